import * as second from '@modelcontextprotocol/client'
import * as firstAuth from '@modelcontextprotocol/sdk/client/auth.js'
import * as firstExtensions from '@modelcontextprotocol/sdk/client/auth-extensions.js'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { isRecord } from '../../../lib/primitives/values'
import type { ClientIdentity, ClientPlan } from './client-plan'
import { AssertionProvider, identityAssertion } from './id-jag'
import { MemoryProvider } from './memory-provider'

/** An MCP client of one generation, as the program drives it. */
export interface McpClient {
  /** Holds the state of an interactive client; undefined for a client that acts for itself. */
  readonly memory: MemoryProvider | undefined
  connect(): Promise<void>
  call(tool: string): Promise<string>
  /** Takes the redirection from the authorization server. */
  finish(answer: URL): Promise<void>
  /** Whether an error says that the owner has to go to the authorization server. */
  isUnauthorized(error: unknown): boolean
  tokens(): { readonly scope?: string | undefined; readonly refresh_token?: string | undefined } | undefined
  close(): Promise<void>
}

const about = { name: 'notes-for-the-desk', version: '1.0.0' }

export function firstGeneration({ server, client: identity, issuer, ...plan }: ClientPlan): McpClient {
  const provider = firstProvider(identity, issuer)
  const open = () => new FirstTransport(new URL(server), { authProvider: provider })
  let [client, transport] = [new FirstClient(about), open()]
  return {
    memory: provider instanceof MemoryProvider ? provider : undefined,
    connect: async () => {
      ;[client, transport] = [new FirstClient(about), open()]
      await client.connect(transport)
    },
    call: async (name) => textOf(await client.callTool({ name, arguments: plan.arguments?.[name] ?? {} })),
    finish: (answer) => transport.finishAuth(answer.searchParams.get('code') ?? ''),
    isUnauthorized: (error) => error instanceof firstAuth.UnauthorizedError,
    tokens: () => provider.tokens(),
    close: () => client.close(),
  }
}

function firstProvider(identity: ClientIdentity, expectedIssuer: string) {
  if ('redirectUri' in identity) return new MemoryProvider(identity, expectedIssuer)
  if (identity.kind === 'id-jag') return new AssertionProvider(identity, expectedIssuer)
  return providerForItself(firstExtensions, identity, expectedIssuer)
}

type ForItself = Extract<ClientIdentity, { readonly kind: 'secret' | 'key' }>

/** Of a client that acts for itself, by the classes of either generation. */
function providerForItself(
  kit: typeof firstExtensions | typeof second,
  identity: ForItself,
  expectedIssuer: string,
) {
  const { clientId, clientSecret = '' } = identity
  const usual = { clientId, expectedIssuer, ...(identity.scope !== undefined && { scope: identity.scope }) }
  if (identity.kind === 'secret') return new kit.ClientCredentialsProvider({ ...usual, clientSecret })
  const { privateKey, algorithm } = identity
  return new kit.PrivateKeyJwtProvider({ ...usual, privateKey: { ...privateKey }, algorithm })
}

export function secondGeneration({ server, client: identity, issuer, ...plan }: ClientPlan): McpClient {
  const provider = secondProvider(identity, issuer)
  const open = () => new second.StreamableHTTPClientTransport(new URL(server), { authProvider: provider })
  // Asks first whether the server speaks the revision of 2026, and falls back to the handshake of 2025.
  const make = () => new second.Client(about, { versionNegotiation: { mode: 'auto' } })
  let [client, transport] = [make(), open()]
  return {
    memory: provider instanceof MemoryProvider ? provider : undefined,
    connect: async () => {
      ;[client, transport] = [make(), open()]
      await client.connect(transport)
    },
    call: async (name) => textOf(await client.callTool({ name, arguments: plan.arguments?.[name] ?? {} })),
    finish: (answer) => transport.finishAuth(answer.searchParams),
    isUnauthorized: (error) => error instanceof second.UnauthorizedError,
    tokens: () => provider.tokens(),
    close: () => client.close(),
  }
}

function secondProvider(identity: ClientIdentity, expectedIssuer: string) {
  if ('redirectUri' in identity) return new MemoryProvider(identity, expectedIssuer)
  if (identity.kind === 'id-jag') {
    const { clientId, clientSecret = '' } = identity
    return new second.CrossAppAccessProvider({
      clientId,
      clientSecret,
      expectedIssuer,
      assertion: ({ authorizationServerUrl, resourceUrl, scope }) =>
        identityAssertion(identity, authorizationServerUrl, resourceUrl, scope),
    })
  }
  return providerForItself(second, identity, expectedIssuer)
}

/** The text of a tool's result. */
export function textOf(result: unknown): string {
  if (!isRecord(result) || !Array.isArray(result['content'])) throw new Error('The tool has no result.')
  const parts: readonly unknown[] = result['content']
  const text = parts.map((part) => (isRecord(part) ? String(part['text']) : '')).join('')
  if (result['isError'] === true) throw new Error(`The tool failed: ${text}`)
  return text
}
