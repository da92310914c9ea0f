/** What a reader of answers is told, and what it tells. */

/** What client and server agreed on that changes answers. */
export interface AnswerFormat {
  /** CLIENT_DEPRECATE_EOF: no EOF packets, rows end with an OK packet. */
  readonly deprecateEof: boolean;
  /** MARIADB_CLIENT_CACHE_METADATA: a byte after the number of columns says whether their definitions follow. */
  readonly cacheMetadata: boolean;
}

export interface AnswerSink {
  /** An answer ended. rows: of all its result sets; affected: from its last OK packet. */
  answered(rows: number, affected: number): void;
  refused(code: number, sqlState: string, message: string): void;
  prepared(id: number, parameters: number): void;
  /** The bytes make no sense: the connection has to be dropped. */
  garbled(reason: string): void;
}
