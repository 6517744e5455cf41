// Command matrix makes the table of what was tested on which server, from what the tests printed:
//
//	scripts/test -- -json 2>&1 | go run ./scripts/matrix
//
// Each room has a line: how many tests passed on each server, and how many skipped themselves.
package main
