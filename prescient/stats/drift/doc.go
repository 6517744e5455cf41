// Package drift says whether run times have become longer than their own last weeks show: see [Look].
//
// The level of a UTC day is its median, less how far its weekday is above the week around it, in the median of five weeks. Of all steps (sudden), and of
// all lines that leave a level (gradual), the nearest to the days counts, by the sum of distances.
//
// A rise is 25 %, and six times the mean distance of the nearest nine tenths of days. Each of the last two days, since one may be bad, is above
// the old level by two standard errors of its median, and after a step by 25 %. Less than 5 ms is no rise: clocks are that coarse. After five weeks the new
// level is usual.
package drift
