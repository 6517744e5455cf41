package config

// readRoutes reads the items of events.routes, and notes their keys for Describe.
func readRoutes(d document, env func(string) (string, bool), s *settings, p *problems) []Route {
	var routes []Route
	for i, line := range d.items[keyRoutes] {
		var r Route
		for _, f := range routeFields(&r) {
			key := itemKey(keyRoutes, i, f.name)
			v, source := d.values[key], d.source(line)
			if v.text != "" {
				source = d.source(v.line)
			} else if v.text = f.fallback; v.text == "" {
				if f.set != nil {
					p.addf(key, source, "it is missing")
				}
				continue
			}
			f.read(key, v.text, source, p)
			if f.name == "url" {
				v.text = r.URL.String()
			}
			s.note(Setting{Key: key, Value: v.text, Source: source})
		}
		r.Secret = signingSecret(keyRoutes, i, d, env, p)
		routes = append(routes, r)
	}
	return routes
}
