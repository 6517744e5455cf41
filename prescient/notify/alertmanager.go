package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	"prescient/prescient/doctor"
	"prescient/prescient/event/broker"
)

// Alert is what every alert is called, beside those of package monitoring.
const Alert = "PrescientFinding"

const alertsPath = "/api/v2/alerts"

// AlertsURL is where an Alertmanager takes alerts whose base is at a URL, which may also be that place itself.
func AlertsURL(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("the URL of an Alertmanager: it is no URL")
	}
	u.Path, u.RawPath = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), alertsPath), ""
	return u.JoinPath(alertsPath).String(), nil
}

// Alertmanager sends alerts by Alertmanager's API: by package event/broker/webhook, to AlertsURL. With each look it sends all that holds: an alert ends
// where four looks did not repeat it, one that is over, or has another severity by now, at once. When somebody is told and reminded, and who is left alone, is for Alertmanager.
// secrets are as with Webhook.
func Alertmanager(to broker.Broker, secrets ...string) Sender {
	return alertmanager{newPoster(to, secrets)}
}

type alertmanager struct{ poster }

func (alertmanager) wantsAll() {}

// alert is one of Alertmanager's API.
type alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
	Generator   string            `json:"generatorURL,omitempty"`
}

// severities are those of package monitoring.
var severities = map[doctor.Severity]string{doctor.SeverityWarn: "warning", doctor.SeverityBad: "critical"}

// alertsOf are the alerts of a message.
func alertsOf(m Message) (list []alert) {
	for _, i := range m.Items {
		a := alert{Labels: map[string]string{"alertname": Alert, "code": i.Code, "severity": severities[i.Severity]},
			Annotations: map[string]string{"summary": i.Text, "description": i.Do}, StartsAt: i.Since, EndsAt: m.At.Add(4 * max(m.LookEvery, time.Minute)), Generator: m.Page}
		if m.Place != "" {
			a.Labels["place"] = m.Place
		}
		if i.OverSince != nil {
			a.EndsAt = *i.OverSince
		}
		list = append(list, a)
		for severity, label := range severities { // an alert of another severity is another one: it would end by itself, minutes later
			if severity != i.Severity && (i.OverSince != nil || i.row.told != nil && i.row.told.severity == severity) {
				b := a
				b.Labels = maps.Clone(a.Labels)
				b.Labels["severity"], b.EndsAt = label, *cmp.Or(i.OverSince, &m.At)
				list = append(list, b)
			}
		}
	}
	return list
}

// Send implements Sender.
func (a alertmanager) Send(ctx context.Context, m Message) error {
	body, err := json.Marshal(alertsOf(m))
	if err != nil {
		return fmt.Errorf("writing alerts: %w", err)
	}
	return a.post(ctx, m, body)
}
