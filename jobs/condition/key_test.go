package condition

import (
	"strings"
	"testing"

	"prescient/prescient"
)

func TestAKeyThatTheColumnCannotHoldIsRefused(t *testing.T) {
	ints := func(kind, whole string) domain {
		d, err := domainOf(Int, kind, whole, "")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	texts := func(charset string) domain { return domain{key: Text, charset: charset} }
	bytes := func(kind, whole string) domain {
		d, err := domainOf(Text, kind, whole, "")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	const no, outside, lacks, filled, notUUID = "no whole number", "is not within", "cannot hold", "and all in the column have", "no UUID as the column writes it"
	for _, c := range []struct {
		domain  domain
		key     string
		refused string
	}{
		{ints("bigint", "bigint(20)"), "42", ""},
		{ints("bigint", "bigint(20)"), "0", ""},
		{ints("bigint", "bigint(20)"), "-1", ""},
		{ints("bigint", "bigint(20)"), "9223372036854775807", ""},
		{ints("bigint", "bigint(20)"), "9223372036854775808", outside},
		{ints("bigint", "bigint(20)"), "-9223372036854775808", ""},
		{ints("bigint", "bigint(20)"), "-9223372036854775809", outside},
		{ints("bigint", "bigint(20) unsigned"), "18446744073709551615", ""},
		{ints("bigint", "bigint(20) unsigned"), "18446744073709551616", outside},
		{ints("bigint", "bigint unsigned"), "-1", outside},
		{ints("int", "int(11)"), "2147483648", outside},
		{ints("mediumint", "mediumint unsigned"), "16777216", outside},
		{ints("tinyint", "tinyint(4)"), "128", outside},
		{ints("int", "int"), "42abc", no},
		{ints("int", "int"), "042", no},
		{ints("int", "int"), "+42", no},
		{ints("int", "int"), "-0", no},
		{ints("int", "int"), " 42", no},
		{ints("int", "int"), "42 ", no},
		{ints("int", "int"), "42\n", no},
		{ints("int", "int"), "4e1", no},
		{ints("int", "int"), "0x2a", no},
		{ints("int", "int"), "٤٢", no},
		{ints("int", "int"), "", no},
		{ints("int", "int"), "1) OR (1=1", no},
		{ints("int", "int"), strings.Repeat("9", 128), no},
		{texts("utf8mb4"), "it's 🙂\x00\\", ""},
		{texts(""), "🙂", ""},
		{texts("utf8mb3"), "é€", ""},
		{texts("utf8mb3"), "🙂", lacks},
		{texts("latin1"), "é", ""},
		{texts("latin1"), "ł", lacks},
		{texts("ascii"), "A-42", ""},
		{texts("ascii"), "é", lacks},
		{texts("gbk"), "é", lacks},
		{texts("utf8mb4"), "\xff", lacks},
		{bytes("varbinary", "varbinary(5)"), "abc", ""},
		{bytes("binary", "binary(5)"), "abcde", ""},
		{bytes("binary", "binary(5)"), "abc", filled},
		{bytes("uuid", "uuid"), "123e4567-e89b-12d3-a456-426614174000", ""},
		{bytes("uuid", "uuid"), "123E4567-E89B-12D3-A456-426614174000", notUUID},
		{bytes("uuid", "uuid"), "123e4567e89b12d3a456426614174000", notUUID},
		{bytes("uuid", "uuid"), "abc", notUUID},
	} {
		err := c.domain.check(prescient.FutureJob{EntityName: "order", EntityKey: c.key})
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%q in %+v: %v; want %q", c.key, c.domain, err, c.refused)
		}
	}
	if texts("utf8mb4").check(prescient.FutureJob{EntityName: prescient.ScheduleEntity, EntityKey: "42"}) == nil {
		t.Error("the id of a schedule is taken for a key")
	}
}

func TestAKeyOfAnotherTypeThanTheColumnIsRefused(t *testing.T) {
	for _, c := range []struct {
		key  Key
		kind string
		good bool
	}{
		{Int, "bigint", true}, {Int, "smallint", true}, {Int, "varchar", false}, {Int, "decimal", false}, {Int, "double", false},
		{Text, "varchar", true}, {Text, "char", true}, {Text, "varbinary", true}, {Text, "uuid", true}, {Text, "int", false}, {Text, "datetime", false},
	} {
		if _, err := domainOf(c.key, c.kind, c.kind, ""); (err == nil) != c.good {
			t.Errorf("key %s of a column %s: %v", c.key, c.kind, err)
		}
	}
}

func TestWhatIsReadIsComparedAsItIsWritten(t *testing.T) {
	if got := (domain{key: Int}).read("00042"); got != "42" {
		t.Errorf("a number with zeros is %s", got)
	}
	if got := (domain{key: Text}).read("00042"); got != "00042" {
		t.Errorf("a text with zeros is %s", got)
	}
}
