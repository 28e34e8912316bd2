import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createAddressPolicy } from '../../src/lib/outbound/address-policy.ts'
import { during } from '../support/world.ts'
import { CALLBACK } from './support/client.ts'
import { lookupLoopback, startDocumentHost } from './support/documents.ts'
import { answerAt } from './support/person.ts'
import { createMemory, SDK_CLIENTS } from './support/sdk-clients.ts'
import { HOUR_MS, letTimePass, SECOND_MS } from './support/time.ts'
import { runOAuthWorld } from './support/world.ts'

const host = during(startDocumentHost)
const world = runOAuthWorld({
  services: { documents: { policy: createAddressPolicy({ allow: ['127.0.0.0/8'] }), lookup: lookupLoopback } },
})
beforeAll(() => void vi.spyOn(console, 'warn').mockReturnValue())

describe.each(SDK_CLIENTS)('the official client with a metadata document: $name', ({ name, open }) => {
  it('is identified by it, registers nothing, connects and refreshes', async () => {
    const clientMetadataUrl = host.put(`/${encodeURIComponent(name)}.json`, url => ({
      body: {
        client_id: url,
        client_name: 'Documented',
        redirect_uris: [CALLBACK],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
      },
    }))
    const memory = createMemory({ clientMetadataUrl })
    const attempt = open(world.serverUrl, memory)
    await expect(attempt.connect()).rejects.toThrow(/Unauthorized/)
    await attempt.finish(await answerAt(memory.sentTo[0] ?? new URL(world.serverUrl), world.owner))
    const before = memory.tokens()
    await letTimePass(world, HOUR_MS + SECOND_MS)
    const connection = await open(world.serverUrl, memory).connect()
    expect(await connection.listTools()).toMatchObject({ tools: [] })
    await connection.close()
    expect(memory.clientId()).toBe(clientMetadataUrl)
    expect(memory.tokens().refresh).not.toBe(before.refresh)
    expect(memory.asked).not.toContain('POST /oauth/register')
    expect(memory.sentTo).toHaveLength(1)
    expect(await world.services.db.oAuthClient.count()).toBe(0)
  })
})
