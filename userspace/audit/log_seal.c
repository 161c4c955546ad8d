/* SPDX-License-Identifier: Apache-2.0 */
/* Sealing a log: when, and in which order seal and key go to disk. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "audit/chain.h"
#include "audit/log_parts.h"
#include "audit/storage.h"

void log_seal_keep(struct audit_log *log)
{
	struct seal_file file = SEAL_FILE_INIT;

	if (log->sealing.file.fd < 0 ||
	    faccessat(log->segment.directory_fd, SEAL_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	if (seal_file_create(log->segment.directory_fd, &log->sealing.file.key, &file) < 0)
		return;
	seal_file_close(&log->sealing.file);
	log->sealing.file = file;
	seal_key_erase(&file.key);
}

void log_seal_find_last(struct audit_log *log)
{
	size_t size = log->segment.size;
	struct seal_claim claim;
	const char *data, *at;
	uint64_t sequence;

	data = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, log->segment.fd, 0) : MAP_FAILED;
	if (data == MAP_FAILED)
		return;
	at = data;
	while ((at = memmem(at, size - (size_t)(at - data), SEAL_EVENT, sizeof(SEAL_EVENT) - 1))) {
		const char *newline = memchr(at, '\n', size - (size_t)(at - data));
		const char *line = memrchr(data, '\n', (size_t)(at - data));

		line = line ? line + 1 : data;
		if (newline && seal_claim_parse(line, (size_t)(newline - line), &claim) == 0 &&
		    chain_sequence(line, (size_t)(newline - line), &sequence) == 0) {
			log->sealing.number = claim.number;
			log->sealing.sequence = sequence;
		}
		at++;
	}
	munmap((void *)data, size);
}

void log_seal_load_key(struct audit_log *log)
{
	struct sealing *sealing = &log->sealing;

	if (sealing->file.fd >= 0 || seal_file_open(log->segment.directory_fd, &sealing->file) < 0)
		return;
	while (sealing->file.key.number <= sealing->number) {
		if (seal_file_advance(&sealing->file) < 0) {
			seal_file_close(&sealing->file);
			return;
		}
	}
}

int log_seal_finish(struct audit_log *log)
{
	struct sealing *sealing = &log->sealing;
	int r;

	if (!sealing->unfinished || log->pending.size > 0)
		return 0;
	r = storage_sync(log->segment.fd);
	if (r < 0)
		return r;
	sealing->unfinished = false;
	/* Without the next key nothing can be sealed; log_seal_load_key() tries again. */
	if (seal_file_advance(&sealing->file) < 0)
		seal_file_close(&sealing->file);
	return 0;
}

static int compose_seal(struct audit_log *log)
{
	struct sealing *sealing = &log->sealing;
	char text[SEAL_RECORD_SIZE], time[CLOCK_TEXT_SIZE];
	uint64_t boot = log->options.clock(CLOCK_BOOTTIME);
	unsigned char mac[SHA256_SIZE];
	size_t size;
	int r;

	clock_format(log->options.clock(CLOCK_REALTIME), time);
	size = seal_claim_format(time, &sealing->file.key, boot, text);
	log->scratch.size = 0;
	log->scratch.failed = false;
	buffer_literal(&log->scratch, "{\"seq\":");
	buffer_number(&log->scratch, log->segment.sequence + 1);
	buffer_literal(&log->scratch, ",");
	buffer_add(&log->scratch, text + 1, size - 1);
	if (log->scratch.failed)
		return -ENOMEM;
	r = seal_mac(&sealing->file.key, log->segment.chain, log->scratch.data, log->scratch.size,
		     mac);
	if (r < 0)
		return r;
	size += seal_claim_end(mac, text + size);
	r = log_line_compose(log, &log->pending, text + 1, size - 2);
	if (r < 0)
		return r;
	log_copy_time(log->last_time, time);
	sealing->unfinished = true;
	sealing->sequence = log->segment.sequence;
	sealing->number = sealing->file.key.number;
	sealing->time = boot;
	return 0;
}

bool log_seal_is_due(const struct audit_log *log)
{
	return log->sealing.file.fd >= 0 && log->segment.sequence > log->sealing.sequence;
}

int log_seal(struct audit_log *log)
{
	int r;

	if (!log_seal_is_due(log) || log->sealing.unfinished || log->pending.size > 0)
		return 0;
	r = compose_seal(log);
	if (r == 0)
		r = log_write_pending(log);
	return r < 0 ? r : log_seal_finish(log);
}
