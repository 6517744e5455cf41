package slots_test

import (
	"errors"
	"fmt"
	"time"

	"prescient/slots"
)

func Example() {
	quarter, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	due := time.Date(2026, 3, 1, 13, 5, 0, 0, time.UTC)
	fmt.Println(quarter.Ceil(due).Format("15:04"))
	fmt.Println(quarter.Ceil(quarter.Ceil(due)).Format("15:04"))
	// Output:
	// 13:15
	// 13:15
}

func ExampleNewGrid_refused() {
	_, err := slots.NewGrid(7 * time.Minute)
	fmt.Println(errors.Is(err, slots.ErrResolution))
	fmt.Println(err)
	// Output:
	// true
	// resolution not allowed: 7m0s does not divide a day; allowed are whole seconds from 1s to 24h0m0s that divide a day exactly, the nearest are 6m40s and 7m12s
}

func ExampleGrid_Between() {
	quarter, _ := slots.NewGrid(15 * time.Minute)
	from := time.Date(2026, 3, 1, 13, 5, 0, 0, time.UTC)
	for slot := range quarter.Between(from, from.Add(40*time.Minute)) {
		fmt.Println(slot.Format("15:04"))
	}
	// Output:
	// 13:15
	// 13:30
}

func ExampleParseMinutes() {
	quarter, _ := slots.NewGrid(15 * time.Minute)
	halfHours, err := slots.ParseMinutes(quarter, "0,30")
	fmt.Println(halfHours, err)
	fmt.Println(halfHours.Next(time.Date(2026, 3, 1, 13, 5, 0, 0, time.UTC)).Format("15:04"))

	_, err = slots.ParseMinutes(quarter, "7")
	fmt.Println(err)
	// Output:
	// minutes 0,30 <nil>
	// 13:30
	// assignment not allowed: minutes "7": no slot begins in minute 7 at a resolution of 15m0s; allowed are 0, 15, 30, 45
}

func ExampleParseShare() {
	daily, _ := slots.NewGrid(24 * time.Hour)
	first, err := slots.ParseShare(daily, "1/2")
	fmt.Println(first, err)
	fmt.Println(first.Next(time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)).Format(time.DateOnly))
	// Output:
	// share 1/2 <nil>
	// 1970-01-03
}

func ExampleCover() {
	quarter, _ := slots.NewGrid(15 * time.Minute)
	halfHours, _ := slots.ParseMinutes(quarter, "0,30")
	early, _ := slots.ParseMinutes(quarter, "0,15")

	coverage, err := slots.Cover(halfHours, early)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("period", coverage.Period, "unserved", coverage.Unserved)
	fmt.Println(coverage)
	// Output:
	// period 1h0m0s unserved [45m0s]
	// nobody serves :45
	// assignment 0 (minutes 0,30) and assignment 1 (minutes 0,15) both serve :00
}

func ExampleCoverage_Describe() {
	quarter, _ := slots.NewGrid(15 * time.Minute)
	halfHours, _ := slots.ParseMinutes(quarter, "0,30")
	workers := []string{"eu-1", "eu-2"}

	coverage, err := slots.Cover(halfHours, slots.All(quarter))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(coverage.Describe(func(i int) string { return workers[i] }))
	// Output: eu-1 and eu-2 both serve :00, :30
}
