import type { Client } from './client'
import type { Json } from './json'
import type { Scope } from './scope'

/** The approval of a resource owner as an extension sees it. */
export interface ExtensionDecision {
  /** The registration of the client. */
  readonly client: Client
  /** The resource owner. */
  readonly subject: string
  /** The scope that the owner has approved, unless an extension before has narrowed it. */
  readonly scope: Scope
  /** The answer to the question of this extension; undefined if it asked none. */
  readonly answer: GivenAnswer | undefined
  /** The data that this extension keeps with the authorization; undefined if there is none. */
  readonly authorizationData: Json | undefined
}

/** The answer of a resource owner: one that the question offered. */
export interface GivenAnswer {
  /** The name of the question. */
  readonly name: string
  readonly value: string
}

/** What becomes of an approval. An omitted member changes nothing. */
export interface DecisionTerms {
  /** The scope of the authorization: a part of what the owner approved. An empty scope is `invalid_scope` for the client. */
  readonly scope?: Scope
  /** Data that the extension keeps with the authorization, in place of its earlier data: JSON of at most 16 384 characters. */
  readonly authorizationData?: Json
}

/** An authorization that its client refreshes, as an extension sees it. */
export interface ExtensionRefresh {
  /** The registration of the client. */
  readonly client: Client
  /** 22 characters of base64url. */
  readonly authorizationId: string
  /** The resource owner; undefined if the client acts for itself. */
  readonly subject: string | undefined
  /** The whole scope of the authorization. The request may ask for less. */
  readonly scope: Scope
  /** When the owner approved, in seconds since the epoch; undefined if the record does not say. */
  readonly grantedAt: number | undefined
  /** The data that this extension keeps with the authorization; undefined if there is none. */
  readonly authorizationData: Json | undefined
}

/** What becomes of an authorization that its client refreshes. */
export type RefreshVerdict = 'keep' | 'end'
