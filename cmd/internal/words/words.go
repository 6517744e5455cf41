// Package words puts into plain words what is shown to people: errors of Go and the driver, and texts from the database
// that could drive a terminal.
package words

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/pflag"

	"prescient/cmd/internal/arguments"
)

// Of is the text of an error for people. What Go and the driver say in words of their own is put into plain ones,
// wherever it stands in the text: the errors that an error wraps say what is to be replaced.
func Of(err error) string {
	text := err.Error()
	for _, leaf := range leaves(err) {
		if words := plainWords(leaf); words != "" {
			text = strings.ReplaceAll(text, leaf.Error(), words)
		}
	}
	return text
}

// leaves returns an error and all that it wraps, the outermost first.
func leaves(err error) (list []error) {
	if err == nil {
		return nil
	}
	list = []error{err}
	switch wraps := err.(type) {
	case interface{ Unwrap() error }:
		list = append(list, leaves(wraps.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, one := range wraps.Unwrap() {
			list = append(list, leaves(one)...)
		}
	}
	return list
}

// fixedWords are for the errors of Go and the driver that are values.
var fixedWords = []struct {
	err   error
	words string
}{
	{context.Canceled, "interrupted"},
	{context.DeadlineExceeded, "no answer within the time allowed"},
	{os.ErrDeadlineExceeded, "no answer within the time allowed"},
	{driver.ErrBadConn, "the connection broke off"},
	{mysql.ErrInvalidConn, "the connection broke off, or there was no answer in time"},
	{mysql.ErrMalformPkt, "what answers there does not speak the protocol of MySQL"},
	{mysql.ErrPktSync, "the connection broke off in the midst of an answer"},
	{mysql.ErrPktSyncMul, "the connection broke off in the midst of an answer"},
	{mysql.ErrBusyBuffer, "the connection is in the midst of another answer"},
	{mysql.ErrPktTooLarge, "what was sent is larger than the server takes (max_allowed_packet)"},
	{mysql.ErrNoTLS, "TLS is asked for, but the server has none"},
	{mysql.ErrOldProtocol, "the server is too old"},
	{sql.ErrNoRows, "no row was found"},
	{sql.ErrTxDone, "the transaction is over already"},
	{sql.ErrConnDone, "the connection is closed already"},
	{io.EOF, "it ends too early"},
	{io.ErrUnexpectedEOF, "it ends too early"},
	{io.ErrClosedPipe, "nobody reads what is written"},
	{net.ErrClosed, "the connection is closed already"},
}

// packages are what the texts of errors of the standard library begin with, those of each of its packages.
var packages = []string{"x509: ", "tls: ", "json: ", "sql: ", "yaml: ", "driver: ", "mysql: ", "net: ", "pem: "}

// plainWords is what an error says in plain words, by its own type and not by what it wraps; empty where its text is
// plain enough.
func plainWords(err error) string {
	for _, fixed := range fixedWords {
		if err == fixed.err { //nolint:errorlint // what it wraps has its turn
			return fixed.words
		}
	}
	switch e := err.(type) { //nolint:errorlint // the same
	case *net.OpError:
		return networkWords(e)
	case *net.DNSError:
		return nameWords(e)
	case *os.SyscallError: // "copy_file_range: is a directory"
		return Of(e.Err)
	case *fs.PathError:
		if e.Op == "open" {
			return ""
		}
		return fmt.Sprintf("%s: %s", e.Path, Of(e.Err))
	case *os.LinkError:
		return fmt.Sprintf("%s: %s", e.New, Of(e.Err))
	case *strconv.NumError:
		if errors.Is(e, strconv.ErrRange) {
			return fmt.Sprintf("%.40q is too large", e.Num)
		}
		return fmt.Sprintf("%.40q is not a whole number", e.Num)
	case *json.UnmarshalTypeError:
		return typeWords(e)
	case *pflag.InvalidValueError:
		return flagWords(e)
	}
	for _, name := range packages {
		if rest, is := strings.CutPrefix(err.Error(), name); is {
			return Of(errors.New(rest))
		}
	}
	return ""
}

func networkWords(e *net.OpError) string {
	where := ""
	if e.Addr != nil {
		where = " " + e.Addr.String()
	}
	var name *net.DNSError
	switch {
	case errors.As(e.Err, &name):
		return nameWords(name)
	case e.Op == "dial" && e.Timeout():
		return fmt.Sprintf("no answer from%s in time", where)
	case e.Op == "dial":
		return fmt.Sprintf("cannot connect to%s: %s", where, Of(e.Err))
	case e.Op == "listen":
		return fmt.Sprintf("cannot listen at%s: %s", where, Of(e.Err))
	case e.Timeout():
		return "no answer within the time allowed"
	}
	return "the connection broke off: " + Of(e.Err)
}

func nameWords(e *net.DNSError) string {
	if e.IsNotFound {
		return fmt.Sprintf("the host %.80q is not known", e.Name)
	}
	return fmt.Sprintf("the host %.80q cannot be looked up: %s", e.Name, e.Err)
}

// typeWords names what stands in JSON where something else belongs.
func typeWords(e *json.UnmarshalTypeError) string {
	where := e.Field
	if where == "" {
		where = "it"
	}
	kind, _, _ := strings.Cut(e.Value, " ") // behind it a number stands itself
	return fmt.Sprintf("%s is of the type %s, want %s", where, kind, jsonType(e.Type))
}

// jsonType is what JSON calls the type of a value.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return "object"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16,
		reflect.Uint32, reflect.Uint64:
		return "whole number"
	}
	return "number"
}

// flagWords says what a flag wants.
func flagWords(e *pflag.InvalidValueError) string {
	flag := e.GetFlag()
	var refused *arguments.Refused
	if errors.As(e, &refused) {
		return refused.Error()
	}
	if errors.Is(e, arguments.ErrRepeated) {
		return fmt.Sprintf("--%s is given twice; once is allowed", flag.Name)
	}
	switch flag.Value.Type() {
	case "bool":
		return fmt.Sprintf("--%s %.80q: true and false are allowed", flag.Name, e.GetValue())
	case "int":
		return fmt.Sprintf("--%s %.80q: want a whole number", flag.Name, e.GetValue())
	case "duration":
		return fmt.Sprintf("--%s %.80q: want a duration such as 90s or 3h", flag.Name, e.GetValue())
	}
	return fmt.Sprintf("--%s %.80q: %s", flag.Name, e.GetValue(), Of(e.Unwrap()))
}
