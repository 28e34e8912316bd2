import { z } from 'zod'

/** HAR 1.2 (W3C "HTTP Archive format"), as far as requests are concerned. Programs leave out what they do not know. */

const text = z
  .string()
  .catch('')
  .transform(value => value.replaceAll('\0', ''))

const Named = z.object({ name: text, value: text })

const namedList = z
  .array(z.unknown())
  .nullish()
  .catch(null)
  .transform(entries => (entries ?? []).flatMap(one => Named.safeParse(one).data ?? []))

const PostParameter = z.object({
  name: text,
  value: text.optional(),
  fileName: z.string().nullish().catch(null),
  contentType: z.string().nullish().catch(null),
})

const PostData = z.object({
  mimeType: text,
  text: text.optional(),
  params: z
    .array(z.unknown())
    .nullish()
    .catch(null)
    .transform(entries => (entries ?? []).flatMap(one => PostParameter.safeParse(one).data ?? [])),
  /** `base64` if the body is bytes. Some programs set it, although the format has it for responses only. */
  encoding: z.string().nullish().catch(null),
})
export type HarPostData = z.infer<typeof PostData>

export const HarEntry = z.object({
  request: z.object({
    method: z.string(),
    url: z.string(),
    headers: namedList,
    postData: PostData.nullish().catch(null),
  }),
  response: z
    .object({
      status: z.number().catch(0),
      content: z.object({ mimeType: text }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
  /** The resource type, which Chrome adds, such as `xhr` or `script`. */
  _resourceType: z.string().nullish().catch(null),
})
export type HarEntry = z.infer<typeof HarEntry>

export const Har = z.object({
  log: z.object({
    entries: z.array(z.unknown()),
    pages: z
      .array(z.object({ title: z.string() }))
      .nullish()
      .catch(null),
  }),
})
