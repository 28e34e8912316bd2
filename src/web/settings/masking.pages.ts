import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formPage, showForm } from '../../lib/http/pages/forms.ts'
import { parseVersion } from '../../lib/http/versions.ts'
import { createMasker } from '../../results/mask/masking.ts'
import { withRules } from '../../results/mask/rules/masked-by-rules.ts'
import { BUILT_IN_KINDS } from '../../servers/masking/masking-rule.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, donePath, serverRoute } from '../frame/server-tab.ts'
import { doneText } from '../frame/user-page.ts'
import {
  describeMasking,
  KIND_TEXTS,
  MASKING_LABELS,
  MaskingForm,
  readMasking,
  readSample,
  type TypedMasking,
  typedMaskingOf,
} from './masking-form.ts'

const PATH = '/servers/:uuid/settings/masking'
const DONE = { saved: 'Saved. The rules apply from the next call.' }
const NO_SECRETS = createMasker([])

/** The form as typed, and the sample text as the rules mask it. */
type Shown = { typed?: TypedMasking | undefined; masked?: string }

export type MaskingPagesParts = { frames: ServerFrameParts; servers: Pick<ServerService, 'getServer' | 'updateServer'> }

/** Registers the page of a server's settings on which users edit its masking rules and try them on a text. */
export const maskingPages: FastifyPluginAsync<MaskingPagesParts> = async (app, { frames, servers }) => {
  const tab = createServerTab(frames, 'settings')
  const pathOf = ({ id }: ServerFrame): string => `${serverTabPath(id, 'settings')}/masking`

  const maskingPage = async (
    request: FastifyRequest,
    frame: ServerFrame,
    { typed, masked }: Shown = {},
  ): Promise<FormPage> => {
    const { masking, updatedAt, presentation } = await servers.getServer(actorOf(request), frame.id)
    const shown = typed ?? typedMaskingOf(masking)
    return {
      view: 'settings/masking',
      data: {
        title: `Masking of ${frame.name}`,
        server: frame,
        path: pathOf(frame),
        settingsHref: serverTabPath(frame.id, 'settings'),
        isPassthrough: presentation === 'passthrough',
        kinds: BUILT_IN_KINDS.map(kind => ({ kind, ...KIND_TEXTS[kind], isOn: shown[kind] })),
        patterns: shown.patterns,
        sample: shown.sample,
        tried: masked === undefined ? undefined : { text: masked, isChanged: masked !== shown.sample },
        summary: describeMasking(masking),
        // After a refusal, the user has seen that somebody else has changed the server.
        version: masked === undefined ? updatedAt.toISOString() : typed?.version,
        done: doneText(request, DONE),
      },
      labels: MASKING_LABELS,
    }
  }

  formPage(app, PATH, {
    ...serverRoute,
    fields: MaskingForm,
    load: tab.frameOf,
    page: (request, frame, typed) => maskingPage(request, frame, { typed }),
    save: async (request, frame, typed, reply) => {
      const masking = readMasking(typed)
      if (typed.step === 'try') {
        const masked = withRules(NO_SECRETS, masking).text(readSample(typed))
        return showForm(reply, await maskingPage(request, frame, { typed, masked }))
      }
      await servers.updateServer(
        actorOf(request),
        frame.id,
        { masking },
        { ifUnchangedSince: parseVersion(typed.version) },
      )
      return donePath(pathOf(frame), 'saved')
    },
  })
}
