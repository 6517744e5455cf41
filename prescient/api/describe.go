package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// jsonFormat reads and writes JSON.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(v)
	},
	Unmarshal: func(data []byte, v any) error {
		general, err := plainBody(data)
		if err != nil {
			return err // also where huma goes on all the same, to read into what is wanted
		}
		if to, is := v.(*any); is {
			*to = general
			return nil
		}
		return json.Unmarshal(data, v)
	},
}

// schemas returns a registry in which types of several packages may have one name, and errors are problems.
func schemas() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		name := huma.DefaultSchemaNamer(t, hint)
		switch room := path.Base(t.PkgPath()); room {
		case "prescient", "ops", "client", "api", ".":
			return name
		default:
			return strings.ToUpper(room[:1]) + room[1:] + name
		}
	})
	r.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[problem]())
	return r
}

// asWritten puts right what huma does not see in a type: that encoding/json writes some numbers as strings.
func asWritten(r huma.Registry) {
	for name, schema := range r.Map() {
		t := r.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, field := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			if property := schema.Properties[name]; property != nil && options == "string" {
				*property = huma.Schema{Type: "string", Pattern: `^-?\d+$`, Description: property.Description}
			}
		}
	}
}

// describe writes the description, a line a field, so that a change of it reads well.
func describe(o *huma.OpenAPI) []byte {
	asWritten(o.Components.Schemas)
	var b bytes.Buffer
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Indent(&b, text, "", "  ")
	}
	if err != nil {
		panic(fmt.Sprintf("the description of the API: %v", err)) // it is made of constants
	}
	b.WriteByte('\n')
	return b.Bytes()
}
