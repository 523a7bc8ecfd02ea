import { isRecord } from '../primitives/options-reader'

/** A consent of a resource owner, as `remember` got it. */
export interface StoredConsent {
  readonly clientId: string
  readonly consent: string
}

/** How long a consent counts, and how old its decision is. */
export interface RememberTerms {
  /** Seconds from now until the store may forget the consent. */
  readonly seconds: number
  /** Seconds since the resource owner was read for the decision, at most. */
  readonly age: number
}

/**
 * Remembers what resource owners have allowed clients. Each verb is one atomic act on the consents of one owner. A
 * rejected promise means that the store failed.
 */
export interface ConsentStore {
  /**
   * Resolves to what the owner has allowed the client, as `remember` got it; undefined if there is nothing, or if its end
   * has passed.
   *
   * @param owner names the resource owner at one issuer: 59 characters of base64url.
   */
  find(owner: string, clientId: string): Promise<string | undefined>

  /** Resolves to the consents of an owner whose end has not passed, in no order. */
  list(owner: string): Promise<readonly StoredConsent[]>

  /**
   * Remembers a consent in place of the earlier one of this owner and client. Resolves to false, and changes nothing, if
   * the owner was read before the last `forget` for this client, or more than an hour ago. An owner with 500 clients
   * loses the consent that ends first.
   *
   * @param consent at most 16 384 characters.
   */
  remember(owner: string, clientId: string, consent: string, terms: RememberTerms): Promise<boolean>

  /**
   * Forgets what the owner has allowed this client, or every client. For an hour, refuses every `remember` whose owner
   * was read before now. It may refuse those for other clients of the owner, too.
   */
  forget(owner: string, clientId: string | undefined): Promise<void>
}

/** The most clients of one owner. */
export const consentsAtMost = 500

/** Seconds. A decision whose owner was read longer ago is not remembered, so the mark of `forget` may end then. */
export const longestDecision = 3600

/** The longest text of a consent, in characters. */
export const longestConsent = 16_384

/** Whether a value has every verb of a store of consents. */
export const isConsentStore = (value: unknown): value is ConsentStore =>
  isRecord(value) && ['find', 'list', 'remember', 'forget'].every((verb) => typeof value[verb] === 'function')
