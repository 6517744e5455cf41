package monitoring

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Where panels stand, in units of Grafana.
const (
	width        = 24
	numberWidth  = 4
	numberHeight = 4
	curvesWidth  = 12
	curvesHeight = 8
)

// schema is that of Grafana 9, which later ones read.
const schema = 36

// What Grafana reads.
type (
	object map[string]any
	place  struct {
		H int `json:"h"`
		W int `json:"w"`
		X int `json:"x"`
		Y int `json:"y"`
	}
	shown struct {
		ID          int      `json:"id"`
		Type        string   `json:"type"`
		Title       string   `json:"title"`
		GridPos     place    `json:"gridPos"`
		Datasource  object   `json:"datasource,omitempty"`
		FieldConfig object   `json:"fieldConfig,omitempty"`
		Options     object   `json:"options,omitempty"`
		Targets     []object `json:"targets,omitempty"`
	}
)

// source is the data source that is chosen at the top of the dashboard.
var source = object{"type": "prometheus", "uid": "${datasource}"}

// dashboard is the file for Grafana.
func (p planned) dashboard() (string, error) {
	title := p.name
	if p.match != "" {
		title += " (" + p.match + ")"
	}
	var text strings.Builder
	out := json.NewEncoder(&text)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false) // expressions have < and >
	err := out.Encode(object{
		"uid": p.name, "title": title, "tags": []string{"prescient"}, "schemaVersion": schema, "editable": true, "timezone": "utc",
		"refresh": "1m", "time": object{"from": "now-6h", "to": "now"},
		"templating": object{"list": []object{{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}}},
		"panels":     p.panels(),
	})
	if err != nil {
		return "", fmt.Errorf("writing the dashboard: %w", err)
	}
	return text.String(), nil
}

// panels places all, each row below the one before.
func (p planned) panels() (all []shown) {
	at := place{}
	for _, r := range rows {
		at.X, at.H, at.W = 0, 1, width
		all = append(all, shown{ID: len(all) + 1, Type: "row", Title: r.question, GridPos: at})
		at.Y++
		last := 0 // the height of those before
		for _, one := range r.panels {
			s := p.panel(one)
			if s.GridPos.H != last && last != 0 && at.X > 0 || at.X+s.GridPos.W > width {
				at.X, at.Y = 0, at.Y+last
			}
			last = s.GridPos.H
			s.ID, s.GridPos.X, s.GridPos.Y = len(all)+1, at.X, at.Y
			all = append(all, s)
			at.X += s.GridPos.W
		}
		at.Y += last
	}
	return all
}

func (p planned) panel(one panel) shown {
	defaults := object{"unit": one.unit, "min": 0}
	s := shown{Title: one.title, Datasource: source, FieldConfig: object{"defaults": defaults, "overrides": []object{}}}
	for i, q := range one.queries {
		s.Targets = append(s.Targets, object{"refId": string(rune('A' + i)), "datasource": source, "expr": p.query(q.expr), "legendFormat": q.legend})
	}
	if one.queries[0].legend != "" {
		s.Type, s.GridPos = "timeseries", place{H: curvesHeight, W: curvesWidth}
		s.Options = object{"legend": object{"displayMode": "list", "placement": "bottom", "showLegend": true}, "tooltip": object{"mode": "multi", "sort": "desc"}}
		return s
	}
	s.Type, s.GridPos = "stat", place{H: numberHeight, W: numberWidth}
	s.Options = object{"reduceOptions": object{"calcs": []string{"lastNotNull"}}, "colorMode": "value", "graphMode": "area"}
	s.Targets[0]["instant"] = false
	steps := []object{{"color": "green", "value": nil}}
	if one.red != "" {
		steps = append(steps, object{"color": "red", "value": json.Number(p.words.Replace(one.red))})
	}
	defaults["thresholds"] = object{"mode": "absolute", "steps": steps}
	return s
}
