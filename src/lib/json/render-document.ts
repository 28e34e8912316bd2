import { formatNumber } from '../kernel/format.ts'
import { renderTable } from './parse-table.ts'
import type { ResultDocument } from './result-document.ts'

/**
 * Renders a document for a model: NDJSON and CSV in their own format if the value still fits it, and other JSON without
 * whitespace.
 */
export const renderDocument = (document: ResultDocument): string => {
  switch (document.kind) {
    case 'text':
      return document.text
    case 'binary':
      return `${document.mediaType}, ${formatNumber(document.bytes)} bytes: binary content, which cannot be shown or searched.`
    case 'json': {
      const { value, format } = document
      if (format === 'csv') return renderTable(value) ?? JSON.stringify(value)
      if (format === 'ndjson' && Array.isArray(value)) return value.map(item => JSON.stringify(item)).join('\n')
      return JSON.stringify(value)
    }
  }
}
