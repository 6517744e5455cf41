package rule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"prescient/prescient"
)

// Merge is the payload of a check: the constant of its rule, in which the members of the data of the occasion take the place of its own, objects member
// by member. A member that is null counts as not given. Where there is but one of the two it is that, as it is. It is the merge patch of RFC 7396 but for
// nulls, which MariaDB gets wrong: where one takes a member away, 10.11 and 11.8 leave the next one of the constant as it was. Of a member that stands in
// data twice the last counts; by the procedure of MariaDB the first does. The error wraps prescient.ErrInvalid where data is no JSON object.
func Merge(constant, data json.RawMessage) (json.RawMessage, error) {
	if data != nil && !IsObject(data) {
		return nil, fmt.Errorf("%w: the data of an occasion are to be a JSON object in UTF-8, or none: %.80q", prescient.ErrInvalid, data)
	}
	if constant == nil || data == nil {
		if constant == nil {
			return data, nil
		}
		return constant, nil
	}
	return patch(constant, data)
}

// patch is a value with another in its place, each as it was written but for members of objects.
func patch(value, with json.RawMessage) (json.RawMessage, error) {
	if !IsObject(with) {
		return with, nil
	}
	members, changes := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if IsObject(value) {
		if err := json.Unmarshal(value, &members); err != nil {
			return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
		}
	}
	if err := json.Unmarshal(with, &changes); err != nil {
		return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	for name, change := range changes {
		if string(bytes.TrimSpace(change)) == "null" {
			continue
		}
		merged, err := patch(members[name], change)
		if err != nil {
			return nil, err
		}
		members[name] = merged
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b.WriteByte(',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b.Write(append(quoted, ':'))
		b.Write(members[name])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// sameJSON says whether two texts are the same value, also once a server has stored one.
func sameJSON(a, b json.RawMessage) bool {
	if a == nil || b == nil || bytes.Equal(a, b) {
		return (a == nil) == (b == nil)
	}
	read := func(text json.RawMessage) (value any) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		_ = d.Decode(&value) // what is no JSON is another
		return value
	}
	return sameValue(read(a), read(b))
}

func sameValue(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, is := b.(map[string]any)
		return is && maps.EqualFunc(a, b, sameValue)
	case []any:
		b, is := b.([]any)
		return is && slices.EqualFunc(a, b, sameValue)
	case json.Number:
		b, is := b.(json.Number)
		return is && sameNumber(a.String(), b.String())
	}
	return reflect.DeepEqual(a, b)
}

// sameNumber says whether two numbers are the same to MySQL, which stores integers of 64 bits as they are, and all others in floating point.
func sameNumber(a, b string) bool {
	x, floatA := strconv.ParseFloat(a, 64)
	y, floatB := strconv.ParseFloat(b, 64)
	return a == b || floatA == nil && floatB == nil && x == y && (x == 0 || !isWhole(a) || !isWhole(b))
}

// isWhole says whether a number is an integer of 64 bits.
func isWhole(text string) bool {
	_, signed := strconv.ParseInt(text, 10, 64)
	_, unsigned := strconv.ParseUint(text, 10, 64)
	return signed == nil || unsigned == nil
}
