// Package timeline says when a schedule fires: it reads crontabs in a time zone, and returns the first occurrence after a time. It reads no clock.
//
// # Crontabs
//
// A crontab has five fields (minute, hour, day of month, month, day of week), or six, the first of which is the second. Case does not matter.
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
// Where both fields of days restrict, either counts: "0 0 13 * fri" is each 13th and each Friday. A field restricts unless it is *, */1 or ?. Refused are
// lists of days with a star (*,15), a step in a range of weekdays over the week's end, and what could never fire.
//
// Names: @yearly (@annually), @monthly, @weekly (on Sunday), @daily (@midnight), @hourly.
//
// "@every 1h30m" fires 1h30m after the schedule was made, after 3h and so on, in real time: 1d is 24 hours. 1 second is the least, 3660 days the most.
//
// "@at 1767225600" and "@at 2026-01-01T01:00:00+01:00" fire once.
//
// # Coming from elsewhere
//
// Day 2 of the week is Monday for Quartz and AWS, and Tuesday here: write names. Refused, with an error that says what to write, are
// years; cron(…) and rate(…) of AWS; L alone for a day of the week; C of Quartz; H of Jenkins; TZ= and CRON_TZ=; @reboot.
//
// # When clocks are changed
//
// A crontab whose hours are all 24 is hourly; all others have fixed local times (zone.go).
//
//   - An hourly one fires at each instant whose local time it matches: twice in an hour that comes twice, and not in one that is left out.
//   - A fixed local time fires once: when the local clock first shows it, or jumps over it. So 02:30 fires at the first of two 02:30s, and at 03:00
//     where 02:00 to 03:00 is left out. All in a gap, even of a day, are one occurrence, with what is due at its end.
package timeline
