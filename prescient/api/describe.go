package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"reflect"
	"slices"
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
		if strings.HasPrefix(t.Name(), "Page[") {
			rows, _ := t.FieldByName("Rows")
			return "PageOf" + nameOf(rows.Type.Elem(), hint)
		}
		return nameOf(t, hint)
	})
	r.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[problem]())
	return r
}

// nameOf names a type, by its room where that is not what the API is about.
func nameOf(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	switch room := path.Base(t.PkgPath()); room {
	case "prescient", "ops", "client", "api", ".":
		return name
	case "definition":
		return name + "Definition"
	case "ruled":
		return "Rule" + strings.TrimPrefix(name, "Rule")
	default:
		return strings.ToUpper(room[:1]) + room[1:] + name
	}
}

// asWritten puts right what huma does not see in a type: that encoding/json writes some numbers as strings, and that lists are filled.
func asWritten(r huma.Registry) {
	for name, schema := range r.Map() {
		t := r.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, field := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			property := schema.Properties[name]
			if property == nil {
				continue
			}
			property.Nullable = property.Nullable && property.Type != huma.TypeArray
			if property.Type == "" && property.Ref == "" && property.Description == "" {
				property.Description = "Any JSON."
			}
			if slices.Contains(strings.Split(options, ","), "string") {
				*property = huma.Schema{Type: huma.TypeString, Format: field.Type.Kind().String(), Pattern: `^-?\d+$`, Description: property.Description}
			}
		}
	}
}

// describe writes the description, a line a field, so that a change of it reads well.
func describe(o *huma.OpenAPI) []byte {
	asWritten(o.Components.Schemas)
	types, names := problemTypes()
	kind := o.Components.Schemas.Map()["Problem"].Properties["type"]
	kind.Enum, kind.Extensions = types, map[string]any{"x-enum-varnames": names}
	for _, path := range o.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post} {
			if op == nil {
				continue
			}
			op.Responses["default"].Description = "A problem."
			op.Responses["default"].Headers = map[string]*huma.Header{"Retry-After": {Description: "After how many seconds it may be sent again.", Schema: &huma.Schema{Type: huma.TypeInteger}}}
			for _, p := range op.Parameters {
				p.Schema.Nullable = false
				if s := p.Schema; s.Type == huma.TypeInteger && s.Minimum != nil && *s.Minimum == 0 && s.Maximum == nil { // a uint64, by which rows are known
					p.Schema = &huma.Schema{Type: huma.TypeString, Format: "uint64", Pattern: `^\d+$`, Description: s.Description}
				}
			}
		}
	}
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
