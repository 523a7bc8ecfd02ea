import { type Field, kind, rows } from '../../primitives/schema'
import { isList, isText } from '../../primitives/values'
import { isTooLong } from '../../protocol/parameters'
import { plainUrl } from '../../protocol/uri'

export interface DocumentUrl {
  readonly clientId: string
  /** With its port, unless that is 443. */
  readonly host: string
}

/**
 * draft-ietf-oauth-client-id-metadata-document 3: https, with a path; no dot segments, fragment or
 * credentials. Apart from `:443`, the text must equal the parsed URL, so no two texts pass for one host.
 */
export function documentUrl(clientId: string): DocumentUrl | undefined {
  if (!clientId.startsWith('https://') || isTooLong('client_id', clientId)) return undefined
  const url = plainUrl(clientId)
  const isUnrepaired = url?.href === clientId.replace(/^(https:\/\/[^/?]+):443\//, '$1/')
  return url !== undefined && isUnrepaired ? { clientId, host: url.host } : undefined
}

type AllowsDocument = (clientId: string) => boolean | Promise<boolean>

const hostName = /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?$/

const anEntry = kind(
  (value): value is string => isText(value) && (hostName.test(value) || isUrl(value)),
  'must be a host such as app.example or *.app.example, or an https URL such as https://app.example/clients/.',
)

export const allowedDocuments: Field<AllowsDocument> = (given, at, name) => {
  if (given === undefined) return () => true
  if (typeof given === 'function') return (clientId) => decisionOf(given(clientId))
  if (!isList(given)) at.wrong(name, 'must be a function, or a list of hosts and URLs.')
  const entries = rows(anEntry, 'hosts and URLs')(isList(given) ? given : [], at, name)
  return (clientId) => entries.some((each) => covers(each, clientId))
}

// The prefix may be a whole host.
const isUrl = (text: string) => documentUrl(text.endsWith('/') ? `${text}x` : text) !== undefined

function covers(entry: string, clientId: string): boolean {
  if (entry.startsWith('https://')) return entry.endsWith('/') ? isBelow(entry, clientId) : clientId === entry
  const { host } = new URL(clientId)
  return entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry
}

// Some web servers decode a slash before they resolve dot segments, or skip what follows a semicolon: they
// would serve a document of another folder.
const leavesFolder = /%(?:25)*(?:2f|5c)|\/\.{1,2};/i

const isBelow = (folder: string, clientId: string) =>
  clientId.startsWith(folder) && !leavesFolder.test(clientId.slice(folder.length - 1))

async function decisionOf(value: unknown): Promise<boolean> {
  const decided: unknown = await value
  if (typeof decided === 'boolean') return decided
  throw new TypeError('The option allow of metadataDocuments() must return true or false.')
}
