import type { Client } from './client'
import type { Json } from './json'
import type { Scope } from './scope'

/** The approval of a resource owner. */
export interface ExtensionDecision {
  readonly client: Client
  readonly subject: string
  /** Approved, unless an earlier extension has narrowed it. */
  readonly scope: Scope
  /** Undefined if this extension asked nothing. */
  readonly answer: GivenAnswer | undefined
  /** What this extension stored. */
  readonly authorizationData: Json | undefined
}

export interface GivenAnswer {
  /** Of the question. */
  readonly name: string
  readonly value: string
}

/** An omitted member changes nothing. */
export interface DecisionTerms {
  /** A part of the approved scope. An empty one is `invalid_scope` for the client. */
  readonly scope?: Scope
  /** Replaces earlier data of the extension: JSON of at most 16 384 characters. */
  readonly authorizationData?: Json
}
