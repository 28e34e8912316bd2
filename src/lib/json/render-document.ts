import type { AnswerDocument } from './result-document.ts'
import { renderTable } from './parse-table.ts'

/** The document as a model reads it: JSON without blanks, lines and tables as they came while they still are such. */
export const renderDocument = (document: AnswerDocument): string => {
  switch (document.kind) {
    case 'text':
      return document.text
    case 'binary':
      return `${document.mediaType}, ${document.bytes.toLocaleString('en')} bytes: binary content, which is not shown or searched.`
    case 'json': {
      const { value, format } = document
      if (format === 'csv') return renderTable(value) ?? JSON.stringify(value)
      if (format === 'ndjson' && Array.isArray(value)) return value.map(item => JSON.stringify(item)).join('\n')
      return JSON.stringify(value)
    }
  }
}
