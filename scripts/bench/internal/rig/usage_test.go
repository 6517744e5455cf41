package rig

import (
	"testing"
)

func TestTheHistoryListLengthIsReadFromTheStatus(t *testing.T) {
	if n := historyLength("Trx id counter 5\nPurge done\nHistory list length 42\nLIST OF"); n != 42 {
		t.Error(n)
	}
	if n := historyLength("nothing"); n != 0 {
		t.Error(n)
	}
}
