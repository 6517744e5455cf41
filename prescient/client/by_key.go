package client

import (
	"bytes"
	"slices"

	"prescient/prescient"
)

// byKey returns the numbers below n in the order of their keys, those of one key as they are.
func byKey(n int, key func(i int) prescient.Key) []int {
	keys, order := make([]prescient.Key, n), make([]int, n)
	for i := range order {
		keys[i], order[i] = key(i), i
	}
	slices.SortStableFunc(order, func(i, j int) int { return bytes.Compare(keys[i][:], keys[j][:]) })
	return order
}
