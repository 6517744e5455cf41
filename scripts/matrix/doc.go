// Command matrix makes the table of what was tested on which server, from what the tests printed:
//
//	scripts/test -- -json 2>&1 | go run ./scripts/matrix
//
// Each room has a line; each server says how many of its tests passed, and how many skipped themselves. It exits with 1 where one failed.
package main
