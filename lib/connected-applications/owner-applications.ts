import type { ListedConsent } from '../authorization/consent-memory'
import { ownerName } from '../authorization/owners'
import type { ListingContext, ReadEntries } from './gone-entries'
import { listedIn, type ListedAuthorization } from './owner-authorizations'

/** Let in by live authorizations, by a remembered consent, or by both. */
export interface OwnerApplication {
  readonly clientId: string
  readonly authorizations: readonly ListedAuthorization[]
  readonly consent: ListedConsent | undefined
}

interface ApplicationPart {
  readonly applications: readonly OwnerApplication[]
  readonly before: string | undefined
  readonly after: string | undefined
}

interface PartPlace {
  readonly after?: string | undefined
  readonly before?: string | undefined
}

/** Stands for one moment. */
export interface OwnerApplications {
  part(place: PartPlace): Promise<ApplicationPart>
  find(clientId: string): Promise<OwnerApplication | undefined>
}

const partSize = 8
// At most for one page, unless one client has more.
const readsAtMost = 1000

export async function ownerApplications(
  { settings, now, issuerDigest, store: { owners, consents } }: ListingContext,
  readEntries: ReadEntries,
  subject: string,
): Promise<OwnerApplications> {
  const owner = ownerName(issuerDigest, subject)
  const [{ entries }, remembered = []] = await Promise.all([owners.read(owner), consents?.list(subject)])
  const consentOf = new Map(remembered.map((consent) => [consent.clientId, consent]))
  const idsByClient = new Map<string, string[]>()
  for (const { clientId, authorizationId } of entries) {
    const ids = idsByClient.get(clientId) ?? []
    idsByClient.set(clientId, ids)
    ids.push(authorizationId)
  }
  const clientIds = [...new Set([...idsByClient.keys(), ...consentOf.keys()])].toSorted()

  const find = async (clientId: string): Promise<OwnerApplication | undefined> => {
    const ids = (idsByClient.get(clientId) ?? []).toSorted()
    const found = await readEntries(owner, ids)
    const authorizations = listedIn(found, subject, now(), settings.resources)
    const consent = consentOf.get(clientId)
    return authorizations.length > 0 || consent !== undefined
      ? { clientId, authorizations, consent }
      : undefined
  }

  /** One more than a part holds, if there is one. */
  const firstOf = async (candidates: readonly string[]) => {
    const found: OwnerApplication[] = []
    let [examined, reads] = [0, 0]
    for (const clientId of candidates) {
      if (found.length > partSize || reads >= readsAtMost) break
      const application = await find(clientId)
      if (application !== undefined) found.push(application)
      reads += idsByClient.get(clientId)?.length ?? 0
      examined += 1
    }
    // With clients left, the next part begins after the last one examined.
    const isMore = found.length > partSize || examined < candidates.length
    const shown = found.slice(0, partSize)
    const last = found.length > partSize ? shown.at(-1)?.clientId : candidates[examined - 1]
    return { shown, last: isMore ? last : undefined }
  }

  const part = async ({ after, before }: PartPlace): Promise<ApplicationPart> => {
    if (before !== undefined) {
      const { shown, last } = await firstOf(clientIds.filter((id) => id < before).toReversed())
      const applications = shown.toReversed()
      const end = applications.at(-1)?.clientId
      return end === undefined ? part({}) : { applications, before: last, after: end }
    }
    const { shown, last } = await firstOf(clientIds.filter((id) => after === undefined || id > after))
    if (shown.length === 0 && last === undefined && after !== undefined) return part({})
    const [first] = shown
    const isFirst = first === undefined || first.clientId === clientIds[0] || after === undefined
    return { applications: shown, before: isFirst ? undefined : first.clientId, after: last }
  }

  return { part, find }
}
