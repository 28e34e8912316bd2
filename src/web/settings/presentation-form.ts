import { closest } from 'fastest-levenshtein'
import { z } from 'zod'
import { type FormPage, formText } from '../../lib/http/pages/forms.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { readWholeNumber } from '../../lib/kernel/whole-number.ts'
import { contextShape } from '../../servers/context-rules.ts'
import { PRESENTATIONS, type Server } from '../../servers/server.ts'
import { explainShownAs, type ShownAs } from '../../servers/settings/shown-as.ts'
import { toPresentationChoices } from './presentation.view.ts'

/** The form that says how clients see the tools, as it is typed. */
export const PresentationForm = { presentation: formText, pinnedTools: formText, maxFlatTokens: formText }
type TypedPresentation = { presentation: string; pinnedTools: string; maxFlatTokens: string }

const LABELS = {
  presentation: 'presentation',
  pinnedTools: 'list of pinned tools',
  maxFlatTokens: 'number of tokens',
}

const namesIn = (text: string): string[] => text.split(/[\s,]+/).filter(name => name !== '')

export const PresentationInput = z.object({
  presentation: z.enum(PRESENTATIONS, 'must be one of the list'),
  pinnedTools: z.string().transform(namesIn).pipe(contextShape.pinnedTools),
  maxFlatTokens: z.string().transform(readWholeNumber).pipe(contextShape.maxFlatTokens.optional()),
})

/** Refuses names that no tool has; those that were pinned before may be of an upstream that is away. */
export const assertToolNames = (
  names: readonly string[],
  known: readonly string[],
  { pinnedTools }: Pick<Server, 'pinnedTools'>,
): void => {
  const unknown = names.find(name => !known.includes(name) && !pinnedTools.includes(name))
  if (unknown === undefined) return
  const hint = known.length === 0 ? 'the server has no tools yet' : `the nearest is ${closest(unknown, [...known])}`
  throw new AppError('invalid_request', 'Some pinned tools do not exist.', {
    errors: [{ path: 'pinnedTools', message: `names ${unknown}, which does not exist; ${hint}` }],
  })
}

type Shown = Pick<Server, 'presentation' | 'pinnedTools' | 'maxFlatTokens'>

export const toPresentationForm = (
  { presentation, pinnedTools, maxFlatTokens }: Shown,
  shownAs: ShownAs | undefined,
  typed?: TypedPresentation,
) => {
  const wanted = PRESENTATIONS.find(one => one === typed?.presentation)
  return {
    choices: toPresentationChoices(wanted ?? presentation),
    pinnedTools: typed?.pinnedTools ?? pinnedTools.join('\n'),
    maxFlatTokens: typed?.maxFlatTokens ?? String(maxFlatTokens),
    now: shownAs && explainShownAs(shownAs),
  }
}

/** The page with what was typed into this form, and why it is refused beside its own fields. */
export const withTypedPresentation = (
  page: FormPage,
  presentation: ReturnType<typeof toPresentationForm>,
): FormPage => ({ ...page, data: { ...page.data, presentation }, labels: LABELS })
