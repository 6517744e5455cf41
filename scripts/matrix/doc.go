// Command matrix makes the table of what was tested on which server, from what the tests printed:
//
//	scripts/test -- -json 2>&1 | go run ./scripts/matrix
//
// A room has a line, and each server how many of the room's tests ended well on it, and how many of those skipped
// themselves there. It ends with 1 where one failed.
package main
