// Package literal writes SQL literals, so that a long statement takes one round trip without a prepare. Text that is not plain goes over in
// hexadecimal: what is built here reads the same under every sql_mode and character set.
package literal
