import type { ToolDefinition } from '../tools/tool.ts'
import { SAMPLE_ORIGIN } from './sample-api.ts'

export const SAMPLE_TITLE = 'Sample API'

/** Tools of the sample API. Together they use every feature of request templates. */
export const SAMPLE_TOOLS: readonly ToolDefinition[] = [
  {
    name: 'convert_currency',
    title: 'Convert currency',
    description: 'Converts an amount of money from one currency into another.',
    method: 'GET',
    url: `${SAMPLE_ORIGIN}/convert?from={{from}}&to={{to}}&amount={{number:amount=1}}`,
    headers: [],
    parameters: {
      from: { description: 'Currency to convert from, ISO 4217', example: 'EUR' },
      to: { description: 'Currency to convert into, ISO 4217', example: 'JPY' },
      amount: { description: 'How much', minimum: 0 },
    },
  },
  {
    name: 'search_contacts',
    title: 'Search contacts',
    description: 'Finds people in the address book by name, e-mail address, city or role.',
    method: 'GET',
    url: `${SAMPLE_ORIGIN}/contacts?q={{query?}}`,
    headers: [],
    parameters: { query: { description: 'Part of a name, address, city or role; omit to list everyone' } },
  },
  {
    name: 'get_contact',
    title: 'Get contact',
    description: 'Returns one person of the address book by id.',
    method: 'GET',
    url: `${SAMPLE_ORIGIN}/contacts/{{integer:id}}`,
    headers: [],
    parameters: { id: { description: 'Id of the contact', minimum: 1 } },
  },
  {
    name: 'echo',
    title: 'Echo',
    description: 'Returns the request it received. Shows exactly what a tool sends.',
    method: 'POST',
    url: `${SAMPLE_ORIGIN}/echo`,
    headers: [{ name: 'X-Sample', value: 'patchbay' }],
    body: '{"message": "{{message}}", "count": {{integer:count=1}}, "extra": {{json:extra?}}}',
    parameters: {
      message: { description: 'Any text' },
      count: { description: 'Any whole number' },
      extra: { description: 'Any JSON' },
    },
    annotations: { readOnlyHint: true, destructiveHint: false },
  },
]
