! SPDX-License-Identifier: BSD-3-Clause
! call longpole_begin("solver") and call longpole_end("solver") name a part of a program for lp-record.
! Without lp-record they do nothing.
module longpole
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: longpole_begin, longpole_end
  abstract interface
    subroutine region(name) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
  end interface
  interface
    function dlsym(handle, name) bind(c, name="dlsym") result(address)
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: address
    end function
  end interface
  type :: found
    procedure(region), pointer, nopass :: call => null()
    logical :: looked = .false.
  end type
  type(found), save :: first, last

contains

  subroutine look(of, function, name)
    type(found), intent(inout) :: of
    character(*), intent(in) :: function, name
    type(c_funptr) :: address

    if (.not. of%looked) then
      address = dlsym(c_null_ptr, function // c_null_char)
      if (c_associated(address)) call c_f_procpointer(address, of%call)
      of%looked = .true.
    end if
    if (associated(of%call)) call of%call(trim(name) // c_null_char)
  end subroutine

  subroutine longpole_begin(name)
    character(*), intent(in) :: name

    call look(first, "longpole_region_begin", name)
  end subroutine

  subroutine longpole_end(name)
    character(*), intent(in) :: name

    call look(last, "longpole_region_end", name)
  end subroutine
end module
