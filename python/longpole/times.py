# SPDX-License-Identifier: BSD-3-Clause
"""Coded times of blocks of calls (lp-trace(5), Coded times), decoded with arrays in place of loops."""
import numpy

# By code: the value without the extra bits, and the number of these bits; -1: no such code.
_VALUE = numpy.zeros(256, numpy.uint64)
_BITS = numpy.full(256, -1, numpy.int64)
for _code in range(216):
    if _code < 16:
        _BITS[_code], _VALUE[_code] = 0, _code
    elif _code < 176:
        _BITS[_code] = 1 + (_code - 16) // 8
        _VALUE[_code] = (8 + (_code - 16) % 8) << int(_BITS[_code])
    else:
        _BITS[_code] = _code - 152
        _VALUE[_code] = 1 << int(_BITS[_code])


def values(codes, bits):
    """The integers; ValueError if codes and bits do not fit."""
    codes = numpy.frombuffer(codes, numpy.uint8)
    count = _BITS[codes]
    ends = numpy.cumsum(count)
    total = int(ends[-1]) if len(codes) else 0
    if (count < 0).any() or len(bits) != (total + 7) // 8 or (total % 8 and bits[-1] >> total % 8):
        raise ValueError("codes and bits do not fit together")
    room = numpy.concatenate((numpy.frombuffer(bits, numpy.uint8), numpy.zeros(9, numpy.uint8))).astype(numpy.uint64)
    begin = ends - count
    byte, shift = begin >> 3, (begin & 7).astype(numpy.uint64)
    word = numpy.zeros(len(codes), numpy.uint64)
    for i in range(8):
        word |= room[byte + i] << numpy.uint64(8 * i)
    more = numpy.where(shift > 0, room[byte + 8] << (numpy.uint64(64) - numpy.maximum(shift, numpy.uint64(1))),
                       numpy.uint64(0))
    mask = (numpy.uint64(1) << count.astype(numpy.uint64)) - numpy.uint64(1)
    return _VALUE[codes] | ((word >> shift | more) & mask)


def decode(call, order, begin, codes, bits):
    """Enters and durations of the rows; ORDER: the rows by site, the order of the codes."""
    first = call != 0
    if not len(call) or not first[0]:
        raise ValueError("a block that does not begin with a call")
    rows = order[first[order]]
    times = values(codes, bits).astype(numpy.int64)
    if len(times) != 2 * len(rows):
        raise ValueError(f"{len(times)} times for {len(rows)} calls")
    gap, duration = numpy.zeros((2, len(call)), numpy.int64)
    gap[rows], duration[rows] = times[:len(rows)], times[len(rows):]
    gap[0] = begin
    number = numpy.cumsum(first) - 1     # of the call that a row belongs to
    enter = numpy.cumsum(gap[first] + numpy.concatenate(([0], duration[first][:-1])))
    return enter[number], duration[first][number]
