// Package literal writes SQL literals. Long statements are built as text: one round trip without a prepare. What is built
// here reads the same under every sql_mode and connection character set, since nothing is ever escaped: text that is not
// plain goes over in hexadecimal.
package literal
