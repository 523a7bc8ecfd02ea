import { isRecord } from '../primitives/values'

/** A consent as `remember` got it. */
export interface StoredConsent {
  readonly clientId: string
  readonly consent: string
}

export interface RememberTerms {
  /** Seconds from now until the store may forget the consent. */
  readonly seconds: number
  /** Seconds since the owner was read for the decision, at most. */
  readonly age: number
}

/**
 * Remembers what owners have allowed clients. Each verb is one atomic act on the consents of one owner. A rejected
 * promise means that the store failed.
 */
export interface ConsentStore {
  /**
   * Undefined without a consent, or after its end.
   *
   * @param owner names the owner at one issuer: 59 characters of base64url.
   */
  find(owner: string, clientId: string): Promise<string | undefined>

  /** Resolves to the consents whose end has not passed, in no order. */
  list(owner: string): Promise<readonly StoredConsent[]>

  /**
   * Replaces the consent of this owner and client. Resolves to false, and changes nothing, if the owner was read before
   * the last `forget` for this client, or more than an hour ago. An owner with 500 clients loses the consent that ends
   * first.
   *
   * @param consent at most 16 384 characters.
   */
  remember(owner: string, clientId: string, consent: string, terms: RememberTerms): Promise<boolean>

  /**
   * Forgets the consent for this client, or for every client. For an hour, refuses every `remember` whose owner was
   * read before now, perhaps also for other clients.
   */
  forget(owner: string, clientId: string | undefined): Promise<void>
}

/** Clients of one owner. */
export const consentsAtMost = 500

/** Seconds. An older decision is refused, so the mark of `forget` may end then. */
export const longestDecision = 3600

/** Characters. */
export const longestConsent = 16_384

export const isConsentStore = (value: unknown): value is ConsentStore =>
  isRecord(value) && ['find', 'list', 'remember', 'forget'].every((verb) => typeof value[verb] === 'function')
