// Package timeline says when a schedule fires: it reads crontabs in a time zone, and returns the first occurrence after a
// time. It reads no clock and asks no database; what it returns depends on its arguments and on the time zone database.
//
// # Crontabs
//
// A crontab has five fields (minute, hour, day of month, month, day of week), or six, the first of which is the second.
// Upper and lower case are the same.
//
//   - each
//     5           this one
//     1-5         a range; 22-2 goes over midnight, nov-feb over the year
//     */15, 5/15  each 15th, from the first or from 5; 10-50/20 within a range
//     1,15,20-25  a list of any of these
//     jan … dec   months; sun … sat and 0 to 7 are days of the week, of which 0 and 7 are Sunday
//     ?           as *, in the two fields of days
//     L, L-3      the last day of the month, and three days before it
//     15W, LW     the working day (Monday to Friday) of this month that is nearest to the 15th, and the last one
//     fri#3       the third Friday of the month; fri#L or friL is its last
//
// Where both fields of days restrict, a day counts that either of them allows, as cron has always had it: "0 0 13 * fri" is
// each 13th and each Friday. A field restricts unless it is *, */1 or ?, so that */2 does. A list of days with a star in it, such as
// *,15 or */2,15, is refused, since crons differ in whether it restricts: write *, or 15, or 1-31/2,15. A step does not go with a
// range of weekdays over the end of the week.
//
// There are names for some: @yearly (@annually), @monthly, @weekly (on Sunday), @daily (@midnight), @hourly.
//
// "@every 1h30m" fires at anchor + 1h30m, anchor + 3h and so on; the anchor, which is when the schedule was made, is no
// occurrence itself. It counts real time, in whole seconds: a day of "@every 1d" has 24 hours, and "@every 1w12h" is
// understood. A second is the least, 3660 days are the most.
//
// "@at 1767225600" and "@at 2026-01-01T01:00:00+01:00" fire once, whatever the zone; a fraction of a second is rounded up.
//
// What could never fire, such as the 31st of February, is refused.
//
// # Coming from elsewhere
//
// These are read, and mean something else here, which nothing can tell:
//
//   - Quartz and AWS count days of the week from 1 for Sunday to 7 for Saturday, so that their 2 is Monday. Here 1 is Monday, and 7 is
//     Sunday: write names. The same goes for 6#3 and 6L of Quartz: fri#3 and friL are clear.
//   - @daily of Jenkins is some time of the night; here it is midnight.
//   - In a crontab that gives both days, Quartz wants a ? in one of them. Here it is as *.
//
// These are refused, and the error says what to write:
//
//   - the year: the seventh field of Quartz, and the sixth of AWS, of which the first of six is the second here. So "0 12 ? * MON-FRI *"
//     is "0 12 * * mon-fri";
//   - cron(…) and rate(5 minutes) of AWS: the fields alone, and "@every 5m";
//   - L alone for a day of the week, which is 6 or sat; ? anywhere but in the two fields of days; C of Quartz;
//   - H of Jenkins: a number, and the jitter of the schedule, which spreads what is asked for the same time;
//   - TZ= and CRON_TZ= before the fields: the zone stands beside them;
//   - @reboot.
//
// # When clocks are changed
//
// A crontab whose hours are all 24 is hourly; all others have fixed local times.
//
//   - An hourly one fires at each instant whose local time it matches: at both passes of an hour that comes twice, and not
//     in one that is left out. "30 * * * *" fires each real hour, all year. Where the clocks are changed by half an hour, as
//     on Lord Howe, it may be half an hour more or less.
//   - A fixed local time fires once: when the local clock first shows it, or first jumps over it. So 02:30 fires at the
//     first of two 02:30s; and where 02:00 to 03:00 is left out, at what is then 03:00, the first instant after the gap.
//     All that fall into a gap are one occurrence, together with what is due at its end anyway. A gap may be a whole day:
//     Samoa left out 30 December 2011, and what was due on that day fired when the 31st began.
//
// # When the rules of zones change
//
// Governments change the rules, and machines learn of it at different times. [Walk] goes from occurrence to occurrence by the local time
// that fired last, which [Walk.Ahead] is kept for. So a fixed local time fires once, whichever rules each step was computed by: it is due
// when the clock of whoever computes it shows it, or, where that has jumped over it, a second after the last one. What goes by instants
// goes by instants.
//
// # What it is made with
//
// Fields are read by github.com/netresearch/go-cron. The days of a month and the changes of clocks are worked out here:
// that library's own Next fires twice at a local time that comes twice, and takes about ten times as long (BenchmarkNext).
package timeline
