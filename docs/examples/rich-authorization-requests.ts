import { isDeepStrictEqual } from 'node:util'
import {
  OAuthError,
  type Client,
  type ExtensionTokenRequest,
  type Json,
  type KeptData,
  type Parameters,
  type Plugin,
} from 'express-authorization-server'

declare module 'express-authorization-server' {
  interface HostClientMembers {
    /** The types that the client may ask for (RFC 9396 10). Default none. */
    readonly authorization_details_types?: readonly string[]
  }
}

declare global {
  namespace Express {
    interface AccessMembers {
      /** Undefined without any. */
      readonly authorization_details?: readonly AuthorizationDetail[]
    }
  }
}

/** One entry of the parameter `authorization_details` (RFC 9396 2). */
export interface AuthorizationDetail {
  readonly type: string
  readonly [member: string]: Json
}

/** What your API can be asked for. */
export interface DetailType {
  /** The words before its details on the consent page. */
  readonly label: string
  /** Whether every member is known and good: RFC 9396 5 refuses all else. The client wrote them. */
  accepts(detail: AuthorizationDetail): boolean
  /** All that it allows, in words for the owner. */
  describe(detail: AuthorizationDetail): string
  /** Whether a client gets it where no page asks an owner, such as for itself. Default: never. */
  mayGrant?(detail: AuthorizationDetail, request: ExtensionTokenRequest): boolean
}

const parameter = 'authorization_details'
const typesMember = 'authorization_details_types'
const entriesAtMost = 16
// In bytes of JSON: a JWT access token of at most 8192 characters has them, too.
const longest = 4096

const refusal = (reason: string, words: string) =>
  new OAuthError('invalid_authorization_details', `authorization_details_${reason}`, words)

/** Rich authorization requests (RFC 9396). No client gets a type that its registration does not name. */
export function richAuthorizationRequests(given: Readonly<Record<string, DetailType>>): Plugin {
  const types = new Map(Object.entries(given))

  function askedIn(parameters: Parameters, client: Client): readonly AuthorizationDetail[] {
    const text = parameters.get(parameter)
    const asked = text === undefined ? [] : parsed(text)
    for (const detail of asked) {
      const type = mayUse(client, detail) ? types.get(detail.type) : undefined
      if (type === undefined) throw refusal('type_unknown', 'The client may not use a type of the details.')
      if (!type.accepts(detail)) throw refusal('unfit', 'The details do not conform to their type.')
    }
    return asked
  }

  return {
    name: 'rich-authorization-requests',
    authorizationParameters: [parameter],
    tokenParameters: [parameter],
    metadata: { [`${typesMember}_supported`]: [...types.keys()] },
    clientMembers: [
      {
        name: typesMember,
        mistakeIn: (value) => (areTexts(value) ? undefined : 'must be a list of texts.'),
        isGranted: (value) => areTexts(value) && value.every((type) => types.has(type)),
      },
    ],

    authorize({ client, parameters }) {
      const asked = askedIn(parameters, client)
      if (asked.length === 0) return undefined
      const facts = asked.map((detail) => {
        const description = types.get(detail.type)?.describe(detail) ?? ''
        const values = [{ value: JSON.stringify(detail), description }]
        return { name: parameter, label: types.get(detail.type)?.label ?? '', values }
      })
      return { data: asked, facts }
    },

    // RFC 9396 6: a token request narrows what was approved. The authorization has all of it, for the next refresh.
    issue(request) {
      const { client, parameters, begins, authorizationData, subjectToken } = request
      const kept = detailsIn(subjectToken ?? { authorizationData, tokenData: undefined })
      const approved = kept.filter((detail) => types.has(detail.type) && mayUse(client, detail))
      const asked = askedIn(parameters, client)
      const isFree = begins && (subjectToken ?? authorizationData) === undefined
      const isGood = (detail: AuthorizationDetail) =>
        approved.some((each) => covers(each, detail)) ||
        (isFree && types.get(detail.type)?.mayGrant?.(detail, request) === true)
      if (!asked.every(isGood)) throw refusal('not_approved', 'The details go beyond what was approved.')
      if (begins) return asked.length === 0 ? undefined : { authorizationData: asked }
      if (asked.length > 0) return { tokenData: asked }
      return approved.length < kept.length ? { tokenData: approved } : undefined
    },

    // RFC 9396 7
    async respond(response) {
      const members = membersOf(response)
      // A fragment carries no lists.
      return response.grantType === 'implicit' || members === undefined ? undefined : { members }
    },

    describe: membersOf,
  }
}

const mayUse = ({ members }: Client, { type }: AuthorizationDetail) => {
  const own = members[typesMember]
  return areTexts(own) && own.includes(type)
}

const membersOf = (data: KeptData) => {
  const details = detailsIn(data)
  return details.length === 0 ? undefined : { [parameter]: details }
}

const detailsIn = ({ tokenData, authorizationData, claims }: KeptData): readonly AuthorizationDetail[] => {
  // A guard that trusts a signature, or asks by introspection, reads no record.
  const details = tokenData ?? authorizationData ?? claims?.[parameter]
  return areDetails(details) ? details : []
}

function parsed(text: string): readonly AuthorizationDetail[] {
  const details = jsonIn(text)
  const isGood = areDetails(details) && details.length > 0 && details.length <= entriesAtMost
  if (isGood && Buffer.byteLength(JSON.stringify(details)) <= longest) return details
  throw refusal('malformed', 'The details must be a short JSON array of objects with a type.')
}

function jsonIn(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text, (name, value: unknown) => {
      if (name === '__proto__') throw new SyntaxError('A member would change its object.')
      return value
    })
    return isShallow(json) ? json : undefined
  } catch {
    return undefined
  }
}

// The server stores no deeper JSON than 32 levels.
const isShallow = (json: unknown, levels = 8): boolean =>
  !isObject(json) || (levels > 0 && Object.values(json).every((inner) => isShallow(inner, levels - 1)))

// RFC 9396 2.2: of these members, a part allows less.
const lists: ReadonlySet<string> = new Set(['locations', 'actions', 'datatypes', 'privileges'])

/** A member more or less could allow more: only the type knows. */
function covers(approved: AuthorizationDetail, asked: AuthorizationDetail): boolean {
  const names = Object.keys(approved)
  if (names.length !== Object.keys(asked).length) return false
  return names.every((name) => {
    const [whole, part] = Object.hasOwn(asked, name) ? [approved[name], asked[name]] : [0, 1]
    if (!lists.has(name) || !areTexts(whole) || !areTexts(part)) return isDeepStrictEqual(whole, part)
    return part.every((each) => whole.includes(each)) && (part.length > 0 || whole.length === 0)
  })
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const areTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

const areDetails = (value: unknown): value is readonly AuthorizationDetail[] =>
  Array.isArray(value) &&
  value.every((each) => isObject(each) && 'type' in each && typeof each.type === 'string')
