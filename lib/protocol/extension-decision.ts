import type { Client } from './client'
import type { Json } from './json'
import type { Scope } from './scope'

/** The approval of a resource owner. */
export interface ExtensionDecision {
  readonly client: Client
  readonly subject: string
  /** What the owner has approved, unless an earlier extension has narrowed it. */
  readonly scope: Scope
  /** To the question of this extension; undefined if it asked none. */
  readonly answer: GivenAnswer | undefined
  /** What this extension stored with the authorization. */
  readonly authorizationData: Json | undefined
}

/** One that the question offered. */
export interface GivenAnswer {
  /** Of the question. */
  readonly name: string
  readonly value: string
}

/** An omitted member changes nothing. */
export interface DecisionTerms {
  /** A part of what the owner approved. An empty scope is `invalid_scope` for the client. */
  readonly scope?: Scope
  /** Stored with the authorization, in place of earlier data: JSON of at most 16 384 characters. */
  readonly authorizationData?: Json
}

/** An authorization that its client refreshes. */
export interface ExtensionRefresh {
  readonly client: Client
  /** 22 characters of base64url. */
  readonly authorizationId: string
  /** Undefined if the client acts for itself. */
  readonly subject: string | undefined
  /** Of the authorization. The request may ask for less. */
  readonly scope: Scope
  /** When the owner approved, in seconds since the epoch; undefined if the record does not say. */
  readonly grantedAt: number | undefined
  /** What this extension stored with the authorization. */
  readonly authorizationData: Json | undefined
}

export type RefreshVerdict = 'keep' | 'end'
