// Package forecast tells what the slots and days to come are to do, by job_exec, and whether they end in time. One of the processes that work makes
// it every minute ([Maker]); all read it ([Read]).
//
// In it is what is pending, and what schedules are yet to fire. Where there are many rows it counts a share of the keys, and
// says how far off that may be; where that says little, it takes the optimiser's estimate. It locks nothing, and reads 36,000 entries at most. The help of the command forecast says what is not in it.
package forecast
