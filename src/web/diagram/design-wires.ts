const GLOBALS = [
  { value: '', text: 'Choose one…' },
  { value: 'carrier_url', text: 'carrier_url' },
  { value: 'carrier_token', text: 'carrier_token (secret)' },
  { value: '+', text: 'New global…' },
]

const PLAIN = {
  about: undefined,
  limits: undefined,
  isRequired: false,
  isLong: false,
  isFixedWrong: false,
  fixed: '',
  fixedHint: 'Any text. Use {{key}} to insert a global.',
  suggestions: [],
  globals: GLOBALS,
  global: '',
  key: '',
  value: '',
  isSecret: false,
  findings: [],
}

/** One parameter per source, for `/design`. */
export const DESIGN_WIRES = [
  {
    ...PLAIN,
    id: 'wire-exposed',
    name: 'shipment_id',
    type: 'string',
    isRequired: true,
    about: 'The number on the label',
    source: 'exposed',
    suggestedKey: 'shipment_id',
  },
  {
    ...PLAIN,
    id: 'wire-global',
    name: 'token',
    type: 'string',
    source: 'global',
    global: '+',
    key: 'night_token',
    isSecret: true,
    suggestedKey: 'token',
    findings: [
      { tone: 'warn', text: 'The global night_token does not exist. Calls of this tool fail until you add it.' },
    ],
  },
  {
    ...PLAIN,
    id: 'wire-fixed',
    name: 'limit',
    type: 'integer',
    source: 'fixed',
    fixed: 'many',
    fixedHint: 'A whole number. Use {{key}} to insert a global.',
    isFixedWrong: true,
    limits: 'At least 1, at most 100',
    suggestedKey: 'limit',
    findings: [{ tone: 'danger', text: 'The value of limit must be an integer.' }],
  },
] as const
