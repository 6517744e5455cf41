package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"prescient/prescient/event/broker"
)

// Type is what webhooks name the type of a message.
const Type = "prescient.findings"

// Webhook sends messages as JSON: type, timestamp and data, which has place, page, receiver and findings. By package event/broker/webhook they are
// signed as Standard Webhooks says; any other broker takes them, too. Errors do not show secrets, as a path that is one, should the receiver repeat them.
func Webhook(to broker.Broker, secrets ...string) Sender { return webhook{newPoster(to, secrets)} }

type webhook struct{ poster }

// poster sends what has a form by then.
type poster struct {
	to     broker.Broker
	hidden *strings.Replacer
}

func newPoster(to broker.Broker, secrets []string) poster {
	var pairs []string
	for _, secret := range secrets {
		if secret != "" {
			pairs = append(pairs, secret, "…")
		}
	}
	return poster{to, strings.NewReplacer(pairs...)}
}

func (p poster) post(ctx context.Context, m Message, body []byte) error {
	err := p.to.Publish(ctx, broker.Message{ID: m.ID, Topic: Type, Key: m.To, GeneratedAt: m.At, ContentType: "application/json", Body: body})
	if err != nil {
		return errors.New(p.hidden.Replace(err.Error()))
	}
	return nil
}

// Send implements Sender.
func (w webhook) Send(ctx context.Context, m Message) error {
	body, err := json.Marshal(struct {
		Type string    `json:"type"`
		At   time.Time `json:"timestamp"`
		Data any       `json:"data"`
	}{Type, m.At, struct {
		Place    string `json:"place,omitempty"`
		Page     string `json:"page,omitempty"`
		Receiver string `json:"receiver"`
		Findings []Item `json:"findings"`
	}{m.Place, m.Page, m.To, m.Items}})
	if err != nil {
		return fmt.Errorf("writing a message of findings: %w", err)
	}
	return w.post(ctx, m, body)
}
