{{- define "pod" -}}
containers:
- name: app
  image: example.com/app:1.0
  envFrom:
  - configMapRef:
      name: {{ .Release.Name }}
{{- end }}
