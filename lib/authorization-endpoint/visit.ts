import type { Requested } from '../authorization/authorization'
import type { Presented } from '../authorization/requested'
import type { StoredAuthorization } from '../authorization/store'
import type { IssueContext } from '../authorization/transition'
import type { Context } from '../doors/context'
import type { Eventual } from '../primitives/concurrency'
import type { Client } from '../protocol/client'
import type { ChoicesQuestion, ConsentFact } from '../protocol/extension'
import type { OwnerQuestion } from '../protocol/owner-question'
import type { Parameters } from '../protocol/parameters'
import type { LoginRequest, ResourceOwner } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import type { ClientFinder, Destination, ParsedAuthorizationRequest } from './authorization-request'

export interface ClaimedRequest {
  readonly presented: Presented
  /** With a salt, it derives the consent token: the handle, or a text that only the server knows. */
  readonly secret: string
  readonly record: Requested
  /** Only the compare-and-set of the claim proves it current. */
  readonly found: StoredAuthorization
  /** For a login, since a browser brought it. */
  readonly hasWaited: boolean
}

/** Its client and redirection URI are known. */
export interface SettledRequest {
  readonly destination: Destination
  readonly parameters: Parameters
  readonly received: Parameters
  readonly claimed: ClaimedRequest | undefined
}

export interface Visit {
  readonly server: Context
  readonly host: Host
  readonly settled: SettledRequest
  readonly client: Client
  readonly redirectUri: string | undefined
  readonly parsed: ParsedAuthorizationRequest
  readonly context: IssueContext
  readonly owner: ResourceOwner | undefined
  /** Of the client, or of the demanded login. The request uses it up. */
  readonly claimed: ClaimedRequest | undefined
}

/** If a function throws anything but an `OAuthError`, the client gets `server_error`. */
export interface Host extends ClientFinder {
  /** If extensions have replaced them. */
  parametersReplaced(parameters: Parameters): void
  findOwner(): Eventual<ResourceOwner | undefined>
  /** True skips the consent page. */
  skipConsent(question: PriorConsentQuestion): Eventual<boolean>
  choices(question: ChoicesQuestion): Promise<unknown>
  logIn(demand: LoginDemand): Promise<void>
  ask(question: Question): unknown
}

export interface LoginDemand {
  /** For the return from the login; undefined if the request names its record. */
  readonly reference: string | undefined
  readonly request: LoginRequest
}

/**
 * Whether this owner has approved the request before (RFC 6749 4.1.1). The scope may exceed the approved one. An
 * approval without these facts, or with another choice, does not count.
 */
export interface PriorConsentQuestion extends ChoicesQuestion {
  readonly redirectUri: string
  /** The only answer to the question of the page; undefined if it asks none. */
  readonly choice?: Choice | undefined
}

/** The answer to the question of the consent page: `{ workspace: 'w1' }`. */
export type Choice = Readonly<Record<string, string>>

export interface Question {
  readonly client: Client
  readonly resourceOwner: ResourceOwner
  readonly scope: Scope
  readonly facts: readonly ConsentFact[]
  /** Undefined if the client polls. */
  readonly redirectUri: string | undefined
  /** Another page posts the response, so this form never ends at the client. Default: false. */
  readonly isPosted?: boolean
  readonly optional: Scope
  readonly allowedBefore: Scope
  readonly asked: OwnerQuestion | undefined
  /** The query after the choice of an account; undefined if the request is good only once. */
  readonly switchAccount: string | undefined
  readonly consentToken: string
}
