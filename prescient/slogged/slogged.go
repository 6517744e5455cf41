package slogged

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/rs/zerolog"
)

// New returns a log whose lines go to a logger of slog, with their level, time, message and fields; an object is a group. Levels that are not
// enabled there cost nothing, also where that changes later. The context of an event does not go along.
func New(to *slog.Logger) zerolog.Logger {
	w := writer{to.Handler()}
	return zerolog.New(w).Sample(w)
}

// writer takes lines of zerolog.
type writer struct{ to slog.Handler }

// Sample implements zerolog.Sampler: an event that nobody wants is not made.
func (w writer) Sample(level zerolog.Level) bool {
	return w.to.Enabled(context.Background(), levelOf(level))
}

// Write implements io.Writer.
func (w writer) Write(line []byte) (int, error) { return w.WriteLevel(zerolog.NoLevel, line) }

// WriteLevel implements zerolog.LevelWriter.
func (w writer) WriteLevel(level zerolog.Level, line []byte) (int, error) {
	if !w.Sample(level) { // zerolog.DisableSampling was called
		return len(line), nil
	}
	record, err := recordOf(levelOf(level), line, time.Now())
	if err != nil {
		return 0, fmt.Errorf("a line of zerolog is not taken by slog: %w", err)
	}
	if err := w.to.Handle(context.Background(), record); err != nil {
		return 0, err
	}
	return len(line), nil
}

// levelOf is the level of slog: below and above those that it names, each is 4 away.
func levelOf(level zerolog.Level) slog.Level {
	if level == zerolog.NoLevel {
		return slog.LevelInfo
	}
	return slog.LevelInfo + 4*(slog.Level(level)-slog.Level(zerolog.InfoLevel))
}

// recordOf reads a line, in which level, message and time are zerolog's own.
func recordOf(level slog.Level, line []byte, now time.Time) (slog.Record, error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	first, err := decoder.Token()
	if err != nil || first != json.Delim('{') {
		return slog.Record{}, fmt.Errorf("it is no JSON object: %.80q", line)
	}
	fields, err := attrs(decoder)
	if err != nil {
		return slog.Record{}, err
	}
	record := slog.NewRecord(now, level, "", 0)
	for _, field := range fields {
		text := field.Value.String()
		switch field.Key {
		case zerolog.LevelFieldName:
		case zerolog.MessageFieldName:
			record.Message = text
		case zerolog.TimestampFieldName:
			at, err := time.Parse(zerolog.TimeFieldFormat, text)
			if err != nil {
				record.AddAttrs(field)
				continue
			}
			record.Time = at
		default:
			record.AddAttrs(field)
		}
	}
	return record, nil
}

// attrs reads what is left of an object, in its order.
func attrs(decoder *json.Decoder) (list []slog.Attr, err error) {
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		v, err := value(decoder)
		if err != nil {
			return nil, err
		}
		list = append(list, slog.Attr{Key: name.(string), Value: v}) // a name is a string
	}
	_, err = decoder.Token()
	return list, err
}

// value reads a value: an object is a group, and a list as it is.
func value(decoder *json.Decoder) (slog.Value, error) {
	token, err := decoder.Token()
	if err != nil {
		return slog.Value{}, err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			group, err := attrs(decoder)
			return slog.GroupValue(group...), err
		}
		list := []any{}
		for decoder.More() {
			var one any
			if err := decoder.Decode(&one); err != nil {
				return slog.Value{}, err
			}
			list = append(list, one)
		}
		_, err := decoder.Token()
		return slog.AnyValue(list), err
	case json.Number:
		return number(v.String()), nil
	}
	return slog.AnyValue(token), nil
}

// number is a whole number wherever it is one.
func number(text string) slog.Value {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return slog.Int64Value(n)
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return slog.Uint64Value(n)
	}
	f, _ := strconv.ParseFloat(text, 64) // what JSON has, or as large as there is
	return slog.Float64Value(f)
}
