import type { ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import type { SeenRequest } from '../support/fake-api.ts'
import { startFakeApi } from '../support/fake-api.ts'

const Payload = z.strictObject({
  type: z.string(),
  timestamp: z.iso.datetime(),
  organizationId: z.uuid(),
  data: z.record(z.string(), z.json()),
})

/** An event that arrived, verified with the secret of its webhook. */
export type Received = z.infer<typeof Payload> & { id: string }

type Answer = (response: ServerResponse, request: SeenRequest) => void
export const accept: Answer = response => void response.writeHead(204).end()

/** Verifies a request as a receiver does that uses the library of Standard Webhooks. Throws if it is not authentic. */
export const verify = ({ body, headers }: SeenRequest, secret: string): Received => {
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  const verified = Payload.parse(new Webhook(secret).verify(body, sent))
  return { ...verified, id: sent['webhook-id'] ?? '' }
}

/** Starts a receiver of webhooks, and closes it after the test. */
export const startReceiver = async (first: Answer = accept) => {
  let answer = first
  let wake: () => void = () => undefined
  const requests: SeenRequest[] = []
  const api = await startFakeApi((request, response) => {
    requests.push(request)
    answer(response, request)
    wake()
  })
  onTestFinished(() => api.close())
  return {
    url: `${api.origin}/hooks`,
    requests,
    /** Changes how it responds from now on. */
    answerWith: (next: Answer): void => {
      answer = next
    },
    /** Resolves once it has received this many requests in total. */
    received: async (count: number): Promise<readonly SeenRequest[]> => {
      while (requests.length < count) {
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
      return requests
    },
  }
}
