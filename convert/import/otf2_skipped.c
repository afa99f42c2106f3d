/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of OTF2 events without a counterpart in an MPI trace: counted, and named at the end. */
#include "otf2.h"

/* With the types of their fields. */
#define SKIPPED(X) \
	X(BufferFlush, P1(OTF2_TimeStamp)) \
	X(MeasurementOnOff, P1(OTF2_MeasurementMode)) \
	X(OmpFork, P1(uint32_t)) \
	X(OmpJoin, P0) \
	X(OmpAcquireLock, P2(uint32_t, uint32_t)) \
	X(OmpReleaseLock, P2(uint32_t, uint32_t)) \
	X(OmpTaskCreate, P1(uint64_t)) \
	X(OmpTaskSwitch, P1(uint64_t)) \
	X(OmpTaskComplete, P1(uint64_t)) \
	X(Metric, P4(OTF2_MetricRef, uint8_t, const OTF2_Type *, const OTF2_MetricValue *)) \
	X(ParameterString, P2(OTF2_ParameterRef, OTF2_StringRef)) \
	X(ParameterInt, P2(OTF2_ParameterRef, int64_t)) \
	X(RmaTryLock, P4(OTF2_RmaWinRef, uint32_t, uint64_t, OTF2_LockType)) \
	X(RmaSync, P3(OTF2_RmaWinRef, uint32_t, OTF2_RmaSyncType)) \
	X(RmaWaitChange, P1(OTF2_RmaWinRef)) \
	X(RmaOpTest, P2(OTF2_RmaWinRef, uint64_t)) \
	X(RmaOpCompleteRemote, P2(OTF2_RmaWinRef, uint64_t)) \
	X(ThreadFork, P2(OTF2_Paradigm, uint32_t)) \
	X(ThreadJoin, P1(OTF2_Paradigm)) \
	X(ThreadTeamBegin, P1(OTF2_CommRef)) \
	X(ThreadTeamEnd, P1(OTF2_CommRef)) \
	X(ThreadAcquireLock, P3(OTF2_Paradigm, uint32_t, uint32_t)) \
	X(ThreadReleaseLock, P3(OTF2_Paradigm, uint32_t, uint32_t)) \
	X(ThreadTaskCreate, P3(OTF2_CommRef, uint32_t, uint32_t)) \
	X(ThreadTaskSwitch, P3(OTF2_CommRef, uint32_t, uint32_t)) \
	X(ThreadTaskComplete, P3(OTF2_CommRef, uint32_t, uint32_t)) \
	X(ThreadCreate, P2(OTF2_CommRef, uint64_t)) \
	X(ThreadBegin, P2(OTF2_CommRef, uint64_t)) \
	X(ThreadWait, P2(OTF2_CommRef, uint64_t)) \
	X(ThreadEnd, P2(OTF2_CommRef, uint64_t)) \
	X(CallingContextEnter, P2(OTF2_CallingContextRef, uint32_t)) \
	X(CallingContextLeave, P1(OTF2_CallingContextRef)) \
	X(CallingContextSample, P3(OTF2_CallingContextRef, uint32_t, OTF2_InterruptGeneratorRef)) \
	X(IoDuplicateHandle, P3(OTF2_IoHandleRef, OTF2_IoHandleRef, OTF2_IoStatusFlag)) \
	X(IoSeek, P4(OTF2_IoHandleRef, int64_t, OTF2_IoSeekOption, uint64_t)) \
	X(IoChangeStatusFlags, P2(OTF2_IoHandleRef, OTF2_IoStatusFlag)) \
	X(IoDeleteFile, P2(OTF2_IoParadigmRef, OTF2_IoFileRef)) \
	X(IoOperationTest, P2(OTF2_IoHandleRef, uint64_t)) \
	X(IoOperationCancelled, P2(OTF2_IoHandleRef, uint64_t)) \
	X(IoAcquireLock, P2(OTF2_IoHandleRef, OTF2_LockType)) \
	X(IoReleaseLock, P2(OTF2_IoHandleRef, OTF2_LockType)) \
	X(IoTryLock, P2(OTF2_IoHandleRef, OTF2_LockType))

enum {
#define X(name, parameters) SKIP_##name,
	SKIPPED(X)
#undef X
	SKIPPED_KINDS
};

/* OTF2 gives its callbacks more than they need. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static OTF2_CallbackCode
skip(void *user, int kind)
{
	struct otf2 *o = user;

	o->skipped[kind]++;
	return OTF2_CALLBACK_SUCCESS;
}

#define P0
#define P1(t1) , t1 a1
#define P2(t1, t2) P1(t1), t2 a2
#define P3(t1, t2, t3) P2(t1, t2), t3 a3
#define P4(t1, t2, t3, t4) P3(t1, t2, t3), t4 a4
#define X(name, parameters) \
	static OTF2_CallbackCode skip_##name(OTF2_LocationRef location, OTF2_TimeStamp time, \
	    void *user, OTF2_AttributeList *attributes parameters) \
	{ \
		return skip(user, SKIP_##name); \
	}
SKIPPED(X)
#undef X

static OTF2_CallbackCode
skip_unknown(OTF2_LocationRef location, OTF2_TimeStamp time, void *user,
    OTF2_AttributeList *attributes)
{
	return skip(user, SKIPPED_KINDS);
}

void
otf2_skip(OTF2_GlobalEvtReaderCallbacks *c)
{
#define X(name, parameters) OTF2_GlobalEvtReaderCallbacks_Set##name##Callback(c, skip_##name);
	SKIPPED(X)
#undef X
	OTF2_GlobalEvtReaderCallbacks_SetUnknownCallback(c, skip_unknown);
}

static void
say(const struct otf2 *o, uint64_t count, const char *what)
{
	if (count > 0)
		note("%s: %llu %s", o->file, (unsigned long long)count, what);
}

void
otf2_say_skipped(const struct otf2 *o)
{
	static const char *const names[] = {
#define X(name, parameters) #name,
		SKIPPED(X)
#undef X
	};
	char text[512] = "";
	size_t used = 0;

	for (size_t k = 0; k < SKIPPED_KINDS; k++)
		if (o->skipped[k] > 0 && used + 40 < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu %s",
			    used > 0 ? ", " : "", (unsigned long long)o->skipped[k], names[k]);
	if (o->skipped[SKIPPED_KINDS] > 0 && used + 40 < sizeof text)
		used += (size_t)snprintf(text + used, sizeof text - used,
		    "%s%llu of kinds that OTF2's library does not know", used > 0 ? ", " : "",
		    (unsigned long long)o->skipped[SKIPPED_KINDS]);
	if (used > 0)
		note("%s: events without a counterpart in a trace are left out: %s", o->file, text);
	if (o->parameters > 0 || o->other_io > 0)
		note("%s: %llu events of kind ParameterUnsignedInt and %llu of files that MPI has "
		    "not opened are left out", o->file, (unsigned long long)o->parameters,
		    (unsigned long long)o->other_io);
	say(o, o->foreign, "events of locations that belong to no MPI rank are left out");
	say(o, o->outside, "messages and other events outside of MPI calls are left out");
	say(o, o->lost_requests, "completed requests were never started");
	say(o, o->backward, "times go backward on their location and are moved");
}
