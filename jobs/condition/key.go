package condition

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"

	"prescient/prescient"
)

// Key is what the keys of entities are in the column. Each is compared as it is written. One that the column cannot hold (042, 4e1, 42abc, 300 in a
// TINYINT, an emoji in latin1, three bytes in a BINARY(16), a UUID in capitals) is an error of its check alone; so is one that only the collation of the column takes for another: by case, accents, or
// blanks at the end. The error names the other.
type Key string

// The kinds of keys.
const (
	Int  Key = "int"
	Text Key = "text"
)

// integer is a number as it is written without doubt: no sign but -, no zero before it, no blank.
var integer = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,19})$`)

// uuid is one as a server writes it: it takes others for the same, and answers with this.
var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// domain is what a column can hold.
type domain struct {
	key         Key
	least, most *big.Int // of an integer
	charset     string   // of a text; empty for bytes
	uuid        bool     // bytes that are written as a UUID
	length      int      // of bytes, where all have the same; 0 for any
}

// bits are the sizes of integers.
var bits = map[string]uint{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}

// integers is the domain of a type of integers.
func integers(size uint, unsigned bool) domain {
	one := big.NewInt(1)
	if unsigned {
		most := new(big.Int).Lsh(one, size)
		return domain{key: Int, least: new(big.Int), most: most.Sub(most, one)}
	}
	half := new(big.Int).Lsh(one, size-1)
	return domain{key: Int, least: new(big.Int).Neg(half), most: new(big.Int).Sub(half, one)}
}

// check returns an error where a column cannot hold the key of an entity. A server would compare all the same: with another key that begins with it,
// or with a whole table, each of whose texts it converts.
func (d domain) check(job prescient.FutureJob) error {
	key := job.EntityKey
	switch {
	case job.EntityName == prescient.ScheduleEntity:
		return fmt.Errorf("%s is a schedule: a condition is for checks of entities", job.Entity())
	case d.key == Int && !integer.MatchString(key):
		return fmt.Errorf("the key of %s is no whole number, as key: int has them: 42, without a sign, blank or zero before it", job.Entity())
	case d.key == Int:
		n, _ := new(big.Int).SetString(key, 10) // the pattern has it
		if n.Cmp(d.least) < 0 || n.Cmp(d.most) > 0 {
			return fmt.Errorf("the key of %s is not within %s to %s, which the column can hold", job.Entity(), d.least, d.most)
		}
	case d.uuid && !uuid.MatchString(key):
		return fmt.Errorf("the key of %s is no UUID as the column writes it: 123e4567-e89b-12d3-a456-426614174000, in small letters", job.Entity())
	case d.length > 0 && len(key) != d.length:
		return fmt.Errorf("the key of %s has %d bytes, and all in the column have %d", job.Entity(), len(key), d.length)
	case !utf8.ValidString(key) || strings.ContainsFunc(key, d.lacks):
		return fmt.Errorf("the key of %s has a character that the column, whose character set is %s, cannot hold", job.Entity(), d.charset)
	}
	return nil
}

// lacks says whether the character set lacks a character. Of sets that are not known by name only those of ASCII are counted on.
func (d domain) lacks(r rune) bool {
	switch d.charset {
	case "", "utf8mb4", "utf16", "utf16le", "utf32":
		return false
	case "utf8", "utf8mb3", "ucs2":
		return r > math.MaxUint16
	case "latin1":
		return r > 0xff || r >= 0x80 && r < 0xa0
	}
	return r >= utf8.RuneSelf
}

// literal is a key as SQL has it, whatever stands in it.
func (d domain) literal(key string) string {
	if d.key == Int {
		return key
	}
	return "_utf8mb4 x'" + hex.EncodeToString([]byte(key)) + "'"
}

// list is a list of keys for IN.
func (d domain) list(keys []string) string {
	all := make([]string, len(keys))
	for i, key := range keys {
		all[i] = d.literal(key)
	}
	return strings.Join(all, ",")
}

// read is a key of the table as checks have it: a column with ZEROFILL answers with zeros before it.
func (d domain) read(key string) string {
	if d.key != Int {
		return key
	}
	if n, ok := new(big.Int).SetString(key, 10); ok {
		return n.String()
	}
	return key
}
