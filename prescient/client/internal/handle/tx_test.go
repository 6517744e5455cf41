package handle

import (
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
)

func TestAClientTriesAgainWhereTheServerHasRolledEverythingBack(t *testing.T) {
	for number, want := range map[uint16]int{1213: 2, 1020: 2, 3101: 2, 1205: 1, 1180: 1, 3100: 1} {
		tries := 0
		_, err := Retried(func() (struct{}, error) {
			if tries++; tries == 1 {
				return struct{}{}, fmt.Errorf("committing: %w", &mysql.MySQLError{Number: number})
			}
			return struct{}{}, nil
		})
		if tries != want || (err == nil) != (want == 2) {
			t.Errorf("error %d: %d tries, %v", number, tries, err)
		}
	}
}
