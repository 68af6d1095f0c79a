/* Names that several parts of the viewer show. */
"use strict";

const HUMAN = 0; // the place of the human dialogues among the models
const protocolTitles = Object.create(null); // filled from the index

const protocolName = (protocol) => protocolTitles[protocol] ?? protocol;
const atLength = (n) => ` at N\u00a0=\u00a0${n}`;

/** Returns a noun and a space to put before an id; empty if the id begins with the noun ("case 7"). */
const nounBefore = (noun, id) => (new RegExp(`^${noun}(?!\\p{L})`, "iu").test(id) ? "" : `${noun} `);
