// Package estimate makes of ended and pending checks a [prescient.Curve], and the checks that it is best looked for at.
package estimate
