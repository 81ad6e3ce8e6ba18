package renderer

import "encoding/json"

// The report's version and kind (CONTRACT.md section 9).
const (
	reportVersion = "helm-checksum/v1"
	reportKind    = "Report"
)

// MarshalJSON writes the Plan as the report of CONTRACT.md section 9. It holds the
// names of keys, but never a value of a config object.
func (p *Plan) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		APIVersion string     `json:"apiVersion"`
		Kind       string     `json:"kind"`
		Workloads  []Workload `json:"workloads"`
		Configs    []Config   `json:"configs"`
		Warnings   []string   `json:"warnings"`
	}{reportVersion, reportKind, p.Workloads, p.Configs, p.Warnings})
}
