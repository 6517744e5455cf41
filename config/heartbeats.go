package config

import (
	"prescient/config/value"
)

// mostHeartbeats is how many heartbeats there are at most.
const mostHeartbeats = 50

// readHeartbeats reads the items of heartbeats.urls.
func readHeartbeats(d document, s *settings, p *problems) (all []Heartbeat) {
	named := make(map[string]string)
	items := itemsOf(keyHeartbeats, d, s, p)
	for n, i := range items {
		if n == mostHeartbeats {
			p.addf(keyHeartbeats, i.source(i.line), "it has %d items; at most %d are allowed", len(items), mostHeartbeats)
			break
		}
		var h Heartbeat
		i.read(heartbeatFields(&h), map[string]*value.Secret{"start": &h.Start, "success": &h.Success, "failure": &h.Failure}, "name", "success")
		key := i.key("name")
		if other, taken := named[h.Name]; taken && h.Name != "" {
			p.addf(key, i.source(i.values[key].line), "%s is the name of %s too; each heartbeat needs its own", value.Quote(h.Name), other)
		}
		named[h.Name] = key
		all = append(all, h)
	}
	return all
}

// checkSlots makes sure that what is told of served slots is there.
func (h Heartbeats) checkSlots(l layers, p *problems) {
	if h.Slots == "" || p.has(keyHeartbeats, keyBeatOfSlots) {
		return
	}
	for _, one := range h.URLs {
		if one.Name == h.Slots {
			return
		}
	}
	text, source := l.given(keyBeatOfSlots)
	p.addf(keyBeatOfSlots, source, "%s is no name in %s", value.Quote(text), keyHeartbeats)
}
