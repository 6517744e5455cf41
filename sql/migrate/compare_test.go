package migrate

import "testing"

// Servers spell expressions in ways of their own: what they mean is compared.
func TestExpressionsAreComparedByWhatTheyMean(t *testing.T) {
	columns := []string{"job_exec", "tag", "due_at", "payload", "first_check_at"}
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"(CONCAT(UNHEX('00'), CAST(tag AS BINARY), SUBSTRING(job_exec, 1, 4)))", "concat(unhex(_utf8mb4\\'00\\'),cast(`tag` as char charset binary),substr(`job_exec`,1,4))", true},
		{"(CONCAT(tag, SUBSTRING(job_exec, 1, 4)))", "concat(`tag`,substr(`job_exec`,1,5))", false},
		{"(CONCAT(tag, job_exec))", "concat(`job_exec`,`tag`)", false},
		{"(UUID_SHORT())", "uuid_short()", true},
		{"(UUID_SHORT())", "1", false},
		{"''", "", true},
		{"0", "7", false},
		{"(/*!80000 JSON_STORAGE_SIZE *//*M! LENGTH */(payload) <= 4194368)", "(json_storage_size(`payload`) <= 4194368)", true},
		{"(/*!80000 JSON_STORAGE_SIZE *//*M! LENGTH */(payload) <= 4194368)", "(octet_length(`payload`) <= 4194369)", false},
		{"(due_at >= TIMESTAMP'1000-01-01 00:00:00' AND due_at % 900 = 0)", "((`due_at` >= TIMESTAMP'1000-01-01 00:00:00') and ((`due_at` % 900) = 0))", true},
	} {
		if same := fingerprint(test.a, columns, "") == fingerprint(test.b, columns, ""); same != test.same {
			t.Errorf("%s and %s: the same is %t; want %t", test.a, test.b, same, test.same)
		}
	}
	if a, b := "(due_at DIV 900000000 * 900)", "due_at DIV 300000000 * 300"; fingerprint(a, columns, "first_check_at") != fingerprint(b, columns, "first_check_at") {
		t.Error("only reslot may put one resolution in the place of another")
	}
}

// An ALTER that is prepared from a literal counts as one that is not, and the last to define a thing does.
func TestWhatLaterMigrationsAlterIsExpected(t *testing.T) {
	var m made
	for _, statement := range splitStatements(`-- A table.
CREATE TABLE IF NOT EXISTS t (
  a VARCHAR(9) NOT NULL DEFAULT '' COMMENT 'one, two',
  b INT        NOT NULL DEFAULT (1 + LENGTH(a)),
  PRIMARY KEY (a, b),
  KEY old (b)
) ENGINE = InnoDB
PARTITION BY RANGE COLUMNS (a) (
  PARTITION p VALUES LESS THAN (MAXVALUE)
);
SET @ddl = IF(EXISTS (SELECT 1), 'DO 0', 'ALTER TABLE t ADD COLUMN c INT NULL COMMENT ''it''''s'' AFTER a,
  ADD CONSTRAINT t_c CHECK (c > 0 AND a <> ''''), DROP KEY old, ADD UNIQUE KEY young (c), ALTER COLUMN b SET DEFAULT (2 + LENGTH(a))');
DROP PROCEDURE IF EXISTS p;
-- +goose StatementBegin
CREATE PROCEDURE p()
BEGIN
  -- A remark;
  DO 1;
END
-- +goose StatementEnd
CREATE OR REPLACE SQL SECURITY INVOKER VIEW v AS SELECT 1;
CREATE OR REPLACE SQL SECURITY INVOKER VIEW w AS SELECT 1;
CREATE OR REPLACE SQL SECURITY INVOKER VIEW v AS SELECT 2;
DROP VIEW IF EXISTS w, x;
`) {
		m.read(statement)
	}
	table := m.tables[0]
	for _, want := range [][2]string{
		{table.Definition("column", "a"), "a VARCHAR(9) NOT NULL DEFAULT '' COMMENT 'one, two'"},
		{table.Default("a"), "''"},
		{table.Default("b"), "(2 + LENGTH(a))"},
		{table.Default("c"), ""},
		{table.Definition("check", "t_c"), "CONSTRAINT t_c CHECK (c > 0 AND a <> '')"},
		{table.Definition("index", "PRIMARY"), "PRIMARY KEY (a, b)"},
		{table.Definition("index", "young"), "UNIQUE KEY young (c)"},
		{m.objects[0].Create, "CREATE PROCEDURE p()\nBEGIN\n  -- A remark;\n  DO 1;\nEND"},
		{m.objects[1].Create, "CREATE OR REPLACE SQL SECURITY INVOKER VIEW v AS SELECT 2"},
	} {
		if want[0] != want[1] {
			t.Errorf("%q; want %q", want[0], want[1])
		}
	}
	if len(table.Columns) != 3 || len(table.Indexes) != 2 || len(m.objects) != 2 {
		t.Errorf("%+v", m)
	}
}
