import { factorOfWidest } from '../../lib/limits/network'
import { idLength, secretLength } from '../../lib/protocol/credential'
import type { Bound } from './bound'
import * as requests from './bounds-of-requests'
import * as values from './bounds-of-values'
import { list } from './markdown'

const times = [
  [365 * 24 * 3600, 'year'],
  [24 * 3600, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

const grouped = (count: number): string =>
  count < 10_000 ? String(count) : String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')

/** Such as `10 minutes`, and `minute` for one. */
function unitsIn(seconds: number): string {
  const [length, unit] = times.find(([each]) => seconds % each === 0) ?? [1, 'second']
  return seconds === length ? unit : `${seconds / length} ${unit}s`
}

const article = (units: string): string => (units === 'hour' ? 'an' : 'a')

function timeOf(seconds: number): string {
  const units = unitsIn(seconds)
  return /^\d/.test(units) ? units : `${article(units)} ${units}`
}

/** The number with its unit. */
function sizeOf({ most, unit, seconds }: Bound): string {
  if (seconds !== undefined) {
    const units = unitsIn(seconds)
    return `${grouped(most)} ${/^\d/.test(units) ? 'in' : article(units)} ${units}`
  }
  if (unit === 'seconds') return timeOf(most)
  if (unit === 'bytes' && most % 1024 === 0) return `${most / 1024} KiB`
  return `${grouped(most)} ${unit}`.trim()
}

/** As Prettier writes it. */
function table(...rows: readonly (readonly string[])[]): string {
  const [head = []] = rows
  const widths = head.map((_, at) => Math.max(3, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: readonly string[], fill = ' ') =>
    `| ${widths.map((width, at) => (cells[at] ?? '').padEnd(width, fill)).join(' | ')} |`
  return [line(head), line([], '-'), ...rows.slice(1).map((row) => line(row))].join('\n')
}

const sizes = (bounds: readonly Bound[]) => list(bounds.map((each) => `${each.what}: ${sizeOf(each)}`))

/** A sentence says what a /48 of IPv6 has. */
const shown = (bounds: readonly Bound[]) => bounds.filter(({ what }) => !what.endsWith('/48'))

/** One line for each size. */
function bySize(bounds: readonly Bound[]): string {
  const namesOf = (size: string) => bounds.filter((each) => sizeOf(each) === size).map((each) => each.what)
  const different = [...new Set(bounds.map(sizeOf))]
  return list(different.map((size) => `${size}: ${namesOf(size).join(', ')}`))
}

const beyond = (what: string, bounds: readonly Bound[]) =>
  table([what, 'at most', 'beyond it'], ...bounds.map((each) => [each.what, sizeOf(each), each.beyond]))

const all = { ...values, ...requests }
const { ofNetworks, selfRegistered, secret } = all

export const allBounds: readonly Bound[] = Object.values(all).flatMap((one) =>
  'what' in one ? [one] : Object.values<Bound>(one),
)

export const boundsPage = (): string => `# Bounds and limits

The server refuses what is beyond a bound before it looks anything up. The numbers come from the code, and a test reaches each. A limit in a time is an option, [\`{ attempts, seconds }\` or \`false\`](guides/plug-ins.md#limits).

## Parameters

A decoded value may have:

${bySize(all.parameters)}

A longer one is \`invalid_request\`; for \`client_id\` and \`redirect_uri\`, on an error page. The bounds of \`client_id\` and \`client_secret\` also hold in a Basic header.

${beyond('value', all.values)}

A grant may have bounds of its own. The [body](#requests) bounds everything else.

## Registrations

The start, \`registerClient()\` and the command refuse more. A client that registers itself gets \`invalid_client_metadata\`, or loses members that only people would see.

${bySize([...all.members, ...all.registrations])}

## Documents of strangers

The server fetches documents that clients name: metadata and keys, without a content encoding. One beyond a bound counts as missing. The bounds hold in each process.

${sizes(all.documents)}

A /48 of IPv6 may cause ${factorOfWidest} times as many, but no more at once. The \`jwks_uri\` of a registration of yours counts for no network.

## Requests

${beyond('bound', all.requests)}

Node bounds the request line and the headers (431; \`createServer(app, { maxHeaderSize })\`). If a parser of yours reads the body first, its bounds hold, too.

## Limits by network

A network is an IPv4 address or a /64 of IPv6, by Express's \`req.ip\`: behind a proxy, set [\`trust proxy\`](guides/production.md). In \`limits.networks\`, or in options of plug-ins:

${sizes(shown(all.networkLimits))}

A /48 of IPv6 has ${factorOfWidest} times the last three. Over a limit, the answer is 429 with \`temporarily_unavailable\` and \`Retry-After\`; at the authorization endpoint, it is a page.

- **Failures** at the token, revocation and introspection endpoints and at your own count together, except those of the server, 405, and \`GET\`, \`HEAD\` or \`OPTIONS\` without an \`Authorization\` header. At guards, nothing counts.
- **A network over its limit of failures** causes no fetch of a document. Only clients that you registered pass, with a key, a certificate, a generated secret, or a chosen one that this process has verified from this network within ${timeOf(secret.known.most)}. A body over ${sizeOf(ofNetworks.body)} or without \`Content-Length\` needs an \`Authorization\` header that proves the client. Give networks with many public or self-registered clients more room.
- **Polls and demands of a nonce** are failures unless the code, the token or the client is good. Over their own limit, they alone get 429.
- **Not counted** are pushed requests and devices of your clients with credentials, and registrations if they demand an initial access token.
- **Each process** counts for itself, up to ${grouped(ofNetworks.counted.most)} networks; others pass uncounted. The option \`stores\` of \`limits.networks\` counts for all processes. Devices always count in the store of the server.

## Shares of one client and one owner

One client with a right secret, or one person, must not use up what others need. Each process counts for itself, up to ${grouped(all.counted.most)} clients or owners; others share one count. In \`limits\`:

${sizes(all.shares)}

A consent page is open until it is approved or expires, even if it is denied. The other limits refill evenly.

A refusal to issue uses up no code, refresh token or consent page. At the authorization endpoint, it is a redirect. Raise \`issuing.owner\` if one subject is a machine that asks for a token with each request.

Single uses are nonces of [\`mac\`](mac.md) tokens, DPoP proofs, assertions of \`privateKeyJwt()\`, and those of your plug-ins. They count for a client of yours with credentials, otherwise for the /48 or IPv4 address of the sender; at guards, which have this option too, for client and owner of the token.

## Self-registered clients of one owner

With the option \`authorizations\`, one resource owner uses ${all.selfRegistered.used.most} clients (\`limits.selfRegisteredClients\`) that [registered themselves](guides/unregistered-clients.md#dynamic-registration) or are known by their [documents](guides/unregistered-clients.md). The approval of one more ends what the owner approved for the client that was used longest ago; no page says so.

A registration that no other owner used then ends within ${timeOf(selfRegistered.unused.most)} (\`unusedLifetime\`), unless its owner comes back. Beyond ${sizeOf(selfRegistered.new)} (\`maximumClients\`), new clients get 503.

## Memory and records

${beyond('record', [...all.records, ...all.consent])}

Only memory or disk bound a database: [how much Redis needs](guides/stores.md#redis).

## Devices

The defaults of [\`deviceAuthorization()\`](guides/devices.md). Over a limit of wrong codes, the page answers 429, and the server asks no store.

${sizes(shown(all.codes))}

A /48 of IPv6 has ${factorOfWidest} times the limit of a network. Right codes and texts that are no code do not count. Only an owner in the network of a guesser has to wait, until the count ends.

## Guessing at client secrets

The store counts failures for all processes together (RFC 6749 2.3.1), with the limits of \`limits.clientAuthentication\` and of [\`password()\`](password.md). An address is a [network](#limits-by-network).

${sizes(all.failures)}

Over a limit, the server answers 429 and verifies nothing. Failures of unknown clients count, too; public ones do not, and authentication methods of yours only if they ask.

- **Guesses never lock out a client with a generated secret, key or certificate.** A chosen secret passes if this process has verified it within ${timeOf(secret.known.most)}; it remembers ${secret.inMemory.most}. After a restart, it can get 429 while an attacker guesses: rotate to a generated secret.
- bcrypt reads ${secret.longest.most} bytes of a secret or password; a longer one is refused. Within ${timeOf(secret.fresh.most)}, a right secret is not verified again.
- As many verifications run at once as libuv has threads (\`UV_THREADPOOL_SIZE\`, ${secret.atOnce.most} by default), and ${secret.waiting.most} more wait, known secrets first. Beyond that, the server answers \`temporarily_unavailable\` and counts nothing.
- Every refusal costs as much as for the most expensive client so far: avoid expensive digests.

## Sizes of credentials

${bySize(all.sizes)}

Behind its prefix, each has ${idLength} letters of base64url that name the record and ${secretLength} secret ones. Clients must treat every token as opaque, and leave room for longer ones (RFC 6749 1.4). The store keeps digests only. An authorization has at most ${all.live.most} live access tokens; one more ends the oldest.
`
