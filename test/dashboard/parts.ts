import { join } from 'node:path'
import { Eta } from 'eta'

const eta = new Eta({ views: join(import.meta.dirname, '../../views'), cache: true, autoEscape: true, autoTrim: false })

/** What a part of the views makes of its data, escaped as pages are. */
export const renderPart = (name: string, data: object): string => eta.render(`/parts/${name}`, data)
