package value

import "testing"

func TestTopics(t *testing.T) {
	for text, allowed := range map[string]bool{"orders": true, "orders.*": true, "*": true, "a/b-c_d.e": true, "": false, "a*b": false, "**": false, "ä": false, "a b": false} {
		var got string
		if err := Topics(&got)(text); (err == nil) != allowed || allowed && got != text {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestBrokerURL(t *testing.T) {
	for text, shown := range map[string]string{"log:": "log://***", "nats://u:p@h1,h2": "nats://***", "amqp://h": "amqp://***", "": "", "://h": "", "nats://h#x": ""} {
		var got Secret
		err := BrokerURL(&got)(text)
		if shown == "" && err == nil || shown != "" && (err != nil || got.String() != shown || got.Reveal() != text) {
			t.Errorf("%q: %v, shown as %s", text, err, got)
		}
	}
}
